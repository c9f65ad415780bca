// SPDX-License-Identifier: BSD-3-Clause
// The program that the process managers' tests start as a job: does one small thing per run, as its first
// word says. Not a test itself.
#include <plexus/plexus.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
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

/// Contexts from outside come to the job by its URL and leave again: 2, 8 and 3 are there.
int guests(plexus::Context& here, const std::string& key_file) {
    answer(here);
    Word mine{here.rank()};
    const auto bound = here.bind(mine);
    here.publish(name_of(here.rank()), bound.pointer());
    if (here.rank() == 0) {
        const auto count = [&](std::uint32_t first, std::uint32_t end) {
            std::map<std::uint32_t, plexus::Context> there;
            std::uint32_t sum = 0;
            for (std::uint32_t number = first; number < end; ++number) {
                plexus::Options options;
                options.set = {{"job.key_file", key_file}, {"launcher", "none"}};
                plexus::Context& guest =
                    there.emplace(number, plexus::Context::attach(here.url(), std::move(options)))
                        .first->second;
                sum += guest.lookup<Word>(name_of(1)).get().call(ask).get();
            }
            return there.size() + here.size() + (sum == there.size() ? 0 : 1000);
        };
        say("there are " + std::to_string(count(0, 0)) + ", then " + std::to_string(count(0, 6)) + ", then " +
            std::to_string(count(6, 7)));
    }
    here.fence().get();
    return 0;
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
    if (verb == "without-rank-0") return without_rank_0(argc, argv);
    if (verb == "again") return again(argc, argv);
    plexus::Context here{argc, argv};
    if (verb == "meet") return meet(here);
    if (verb == "guests") return guests(here, argv[2]);
    if (verb == "fail") return here.rank() == 1 ? 7 : 0;
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
