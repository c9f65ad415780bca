// SPDX-License-Identifier: BSD-3-Clause
// The program that the launcher's tests start as a job: does one small thing per run, as
// its first word says. Not a test itself.
#include "base/crypto.h"
#include "base/log.h"
#include "bootstrap/directory.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

using namespace plexus;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "-" : value;
}

std::string rank() { return variable("PLEXUS_JOB_RANK"); }

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

[[noreturn]] void stay() {
    for (;;) ::pause();
}

/// show NAME...: the values of these variables, and what else was given.
int show(const Words& words) {
    std::string line = rank() + "/" + variable("PLEXUS_JOB_SIZE");
    for (const std::string& word : words) line += " " + word + "=" + variable(word.c_str());
    say(line);
    return 0;
}

int arguments(const Words& words) {
    std::string line;
    for (const std::string& word : words) line += "<" + word + ">";
    say(line);
    return 0;
}

/// exit CODE RANK, die SIGNAL RANK: that rank ends so, the others stay.
int exit_with(const Words& words) {
    say("ready");
    if (rank() == words[1]) return std::stoi(words[0]);
    stay();
}

int die(const Words& words) {
    say("ready");
    if (rank() == words[1]) std::raise(std::stoi(words[0]));
    stay();
}

/// await SIGNAL: says which came, ends with 0.
int await(const Words& words) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, std::stoi(words[0]));
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    say("ready");
    int got = 0;
    sigwait(&wanted, &got);
    say("got " + std::to_string(got));
    return 0;
}

int be_stubborn(const Words& words) {
    for (const std::string& word : words) std::signal(std::stoi(word), SIG_IGN);
    say("ready");
    stay();
}

/// orphan stay|leave: has a child in a session of its own that heeds no signal.
int have_orphan(const Words& words) {
    if (::fork() == 0) {
        if (::fork() != 0) ::_exit(0); // its parent ends at once: the child is nobody's
        ::setsid();
        for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
        say("orphan");
        stay();
    }
    say("ready");
    if (words[0] == "leave") return 0;
    stay();
}

/// lines COUNT: written a few characters at a time, to both streams by turns.
int write_lines(const Words& words) {
    for (int i = 0; i < std::stoi(words[0]); ++i) {
        const std::string line = "line " + std::to_string(i) + " of rank " + rank() + " ends here\n";
        for (std::size_t at = 0; at < line.size(); at += 7)
            if (::write(i % 2 == 0 ? 1 : 2, line.data() + at, std::min<std::size_t>(7, line.size() - at)) < 0)
                return 1;
    }
    return 0;
}

int write_text(const Words& words) { return ::write(1, words[0].data(), words[0].size()) < 0 ? 1 : 0; }

int write_long_line(const Words& words) {
    std::string text(std::stoul(words[0]), 'x');
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

int write_for_ever(const Words&) {
    const std::string line(100, 'y');
    for (;;) std::puts(line.c_str());
}

int copy_input(const Words&) {
    char room[4096];
    std::size_t total = 0;
    while (std::fgets(room, sizeof room, stdin) != nullptr) {
        total += std::strlen(room);
        std::fputs(room, stdout);
    }
    say("bytes " + std::to_string(total));
    return 0;
}

/// meet: all members publish, find each other's words, and leave together.
int meet(const Words&) {
    const auto job = bootstrap::Job::from_environment().value();
    ContextId who;
    crypto::fill_random(who.bytes.data(), who.bytes.size());
    const auto deadline = Clock::now() + 20s;
    const auto directory = bootstrap::join(job.url, job.key.value(), who, deadline).value();
    const std::string mine = "word of " + std::to_string(job.rank);
    directory->publish(mine, std::as_bytes(std::span(mine))).value();
    const std::string theirs = "word of " + std::to_string((job.rank + 1) % job.size);
    std::promise<Result<bootstrap::Bytes>> found;
    directory->lookup(theirs, deadline,
                      [&](Result<bootstrap::Bytes> said) { found.set_value(std::move(said)); });
    const auto bytes = found.get_future().get().value();
    std::promise<Result<void>> done;
    directory->fence(deadline, [&](Result<void> said) { done.set_value(std::move(said)); });
    done.get_future().get().value();
    say("found " + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return 0;
}

int run(std::string_view what, const Words& words) {
    if (what == "show") return show(words);
    if (what == "arguments") return arguments(words);
    if (what == "exit") return exit_with(words);
    if (what == "die") return die(words);
    if (what == "await") return await(words);
    if (what == "stubborn") return be_stubborn(words);
    if (what == "orphan") return have_orphan(words);
    if (what == "lines") return write_lines(words);
    if (what == "text") return write_text(words);
    if (what == "long") return write_long_line(words);
    if (what == "flood") return write_for_ever(words);
    if (what == "copy") return copy_input(words);
    if (what == "meet") return meet(words);
    std::fprintf(stderr, "the helper does not know \"%s\"\n", what.data());
    return 90;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc > 1 ? argv[1] : "", Words(argv + std::min(argc, 2), argv + argc));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "the helper failed: %s\n", error.what());
        return 91;
    }
}
