// SPDX-License-Identifier: BSD-3-Clause
// The program that the process managers' tests start as a job: does one small thing per run, as its first
// word says. Not a test itself.
#include "elastic.h"

#include <plexus/plexus.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

struct Word {
    std::uint32_t rank = 0;
    std::atomic<bool> was_asked{false};
};

inline constexpr plexus::Request<std::uint32_t(Word&)> ask{"managed_helper.ask"};

std::string name_of(std::uint32_t rank) { return "word of " + std::to_string(rank); }

/// One write: the lines of several processes stay whole.
void say(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) std::abort();
}

void answer(plexus::Context& here) {
    here.on(ask, [](Word& word) {
        word.was_asked.store(true, std::memory_order_relaxed);
        return word.rank;
    });
}

/// Each asks the next one who it is; they leave together.
int meet(plexus::Context& here) {
    answer(here);
    Word mine{here.rank()};
    const auto bound = here.bind(mine);
    here.publish(name_of(here.rank()), bound.pointer());
    const auto next = here.lookup<Word>(name_of((here.rank() + 1) % here.size())).get();
    say("rank " + std::to_string(here.rank()) + " of " + std::to_string(here.size()) + " met " +
        std::to_string(next.call(ask).get()) + " in " + here.launcher().name);
    here.fence().get();
    return 0;
}

/// Rank 0 ends at once; the others, of which rank 2 begins a second late, meet without it.
int without_rank_0(int argc, char** argv) {
    const char* rank =
        std::getenv("PMIX_RANK") != nullptr ? std::getenv("PMIX_RANK") : std::getenv("PMI_RANK");
    if (rank != nullptr && std::string(rank) == "2") std::this_thread::sleep_for(1s);
    plexus::Context here{argc, argv};
    if (here.rank() == 0) return 0;
    answer(here);
    Word mine{here.rank()};
    const auto bound = here.bind(mine);
    std::this_thread::sleep_for(500ms);
    here.publish(name_of(here.rank()), bound.pointer());
    const auto next = here.lookup<Word>(name_of(here.rank() % (here.size() - 1) + 1)).get();
    say("rank " + std::to_string(here.rank()) + " met " + std::to_string(next.call(ask).get()));
    here.run_until([&] { return mine.was_asked.load(std::memory_order_relaxed); });
    return 0;
}

/// A thread forks while another one waits for a rank 0 that does not come; the child learns that it has no
/// job.
int fork_in_half(int argc, char** argv) {
    std::atomic<bool> ended{false};
    std::thread other([&] {
        std::this_thread::sleep_for(500ms);
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                const plexus::Context here{argc, argv};
            } catch (const plexus::Error& error) {
                ::_exit(error.status() == plexus::Status::closed ? 0 : 1);
            }
            ::_exit(2);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        say((ended ? "too late, " : "in time, ") + std::to_string(status));
    });
    int code = 0;
    try {
        const plexus::Context here{argc, argv};
    } catch (const plexus::Error& error) {
        say(error.what());
        code = 3;
    }
    ended = true;
    other.join();
    return code;
}

/// Rank 0 leaves at once, rank 1 makes two contexts one after the other, rank 2 starts a second later.
int one_late(int argc, char** argv) {
    const char* text = std::getenv("PMIX_RANK");
    const std::string rank = text == nullptr ? "" : text;
    if (rank == "2") std::this_thread::sleep_for(1s);
    if (rank == "1") { const plexus::Context first{argc, argv}; }
    const plexus::Context here{argc, argv};
    say("rank " + std::to_string(here.rank()) + " was there");
    return 0;
}

/// A context that has ended, one after it, and one in a forked child: all in the same job.
int again(int argc, char** argv) {
    { const plexus::Context first{argc, argv}; }
    plexus::Context here{argc, argv};
    answer(here);
    Word mine{here.rank()};
    const auto bound = here.bind(mine);
    here.publish(name_of(here.rank()), bound.pointer());
    const pid_t child = ::fork();
    if (child == 0) {
        int code = 1;
        try {
            plexus::Context born{argc, argv};
            const auto other = born.lookup<Word>(name_of((born.rank() + 1) % born.size())).get();
            say("child of rank " + std::to_string(born.rank()) + " met " +
                std::to_string(other.call(ask).get()));
            code = 0;
        } catch (const std::exception& error) { say(std::string("child: ") + error.what()); }
        ::_exit(code);
    }
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) here.run_for(5ms);
    here.fence().get();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// All are there; then nobody leaves by himself.
int stay(plexus::Context& here) {
    here.fence().get();
    say("rank " + std::to_string(here.rank()) + " stays");
    if (here.rank() == 0) return 0; // its process waits for the others
    std::this_thread::sleep_for(60s);
    return 1;
}

/// All are there; then rank 0 fails, and the others stay for something that it would have to do.
int fail_0(plexus::Context& here) {
    here.fence().get();
    say("rank " + std::to_string(here.rank()) + " was there");
    if (here.rank() == 0) return 7;
    here.fence(plexus::deadline(60s)).get();
    return 0;
}

/// The processes end one after the other, not together.
int end_in_turn(std::uint32_t rank) {
    std::this_thread::sleep_for(rank * 400ms);
    say("rank " + std::to_string(rank) + " ends");
    return 0;
}

/// No context starts, since its key file is missing: the process manager has been asked then.
int refused(int argc, char** argv) {
    const char* rank =
        std::getenv("PMIX_RANK") != nullptr ? std::getenv("PMIX_RANK") : std::getenv("PMI_RANK");
    try {
        const plexus::Context here{argc, argv};
        say("a context has started");
    } catch (const plexus::Error& error) { say(error.what()); }
    return end_in_turn(rank == nullptr ? 0 : static_cast<std::uint32_t>(std::atoi(rank)));
}

/// Rank 0 leaves, rank 1 stays, rank 2 is killed.
int die(const plexus::Context& here) {
    if (here.rank() == 0) return 0;
    std::this_thread::sleep_for(here.rank() == 1 ? 60s : 500ms);
    std::raise(SIGKILL);
    return 1;
}

int run(int argc, char** argv) {
    const std::string verb = argc > 1 ? argv[1] : "";
    if (verb == "refused") return refused(argc, argv);
    if (verb == "without-rank-0") return without_rank_0(argc, argv);
    if (verb == "fork-in-half") return fork_in_half(argc, argv);
    if (verb == "one-late") return one_late(argc, argv);
    if (verb == "again") return again(argc, argv);
    if (verb == "guest" && argc == 6)
        return elastic::run_guest(argv[2], argv[3], argv[4], std::atoi(argv[5]));
    plexus::Context here{argc, argv};
    if (verb == "meet") return meet(here);
    if (verb == "in-turn") {
        here.fence().get();
        return end_in_turn(here.rank());
    }
    if (verb == "stay") return stay(here);
    if (verb == "elastic") return elastic::run_member(here);
    if (verb == "fail") return here.rank() == 1 ? 7 : 0;
    if (verb == "fail-0") return fail_0(here);
    if (verb == "die") return die(here);
    say("no such verb: " + verb);
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "managed_helper: %s\n", error.what());
        return 3;
    }
}
