// SPDX-License-Identifier: BSD-3-Clause
#include "system/launcher/command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plexus::testing {
namespace {

// Whoever runs the tests may ignore some signals (nohup, a build service), the launcher would
// respect that, and the tests send them.
[[maybe_unused]] const bool signals_as_usual = [] {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2})
        std::signal(signal, SIG_DFL);
    return true;
}();

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr)
        throw std::runtime_error(std::string(name) + " is not set: run this test through Meson");
    return value;
}

std::string fresh_mark() {
    static int count = 0;
    return "LAUNCHER_TEST_MARK=" + std::to_string(::getpid()) + "." + std::to_string(++count);
}

constexpr char kSubreaper[] = "plexus-reaper";

std::string name_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

/// A file in memory that can be standard input.
UniqueFd file_with(const std::string& text) {
    UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
    if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::lseek(file.get(), 0, SEEK_SET) != 0)
        throw std::runtime_error(std::string("no standard input: ") + std::strerror(errno));
    return file;
}

} // namespace

Command::Command(const Words& words, const std::string& input)
  : Command(OtherProgram{variable("TESTED_PLEXUS")}, words, input) {}

Command::Command(const OtherProgram& other, const Words& words, const std::string& input)
  : mark_(fresh_mark()) {
    const std::string& program = other.path;
    std::vector<std::string> texts{program};
    texts.insert(texts.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    std::string mark = mark_;
    std::vector<char*> environment{mark.data()};
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    environment.push_back(nullptr);

    const UniqueFd in = file_with(input);
    UniqueFd theirs[2];
    for (int i = 0; i < 2; ++i) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        pipes_[i].reset(ends[0]);
        theirs[i].reset(ends[1]);
        ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("no process");
    if (pid_ > 0) return;
    ::setpgid(0, 0);
    ::dup2(in.get(), STDIN_FILENO);
    ::dup2(theirs[0].get(), STDOUT_FILENO);
    ::dup2(theirs[1].get(), STDERR_FILENO);
    ::execve(program.c_str(), arguments.data(), environment.data());
    ::_exit(99);
}

Command::~Command() {
    if (!code_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
}

void Command::kill(int signal) const { ::kill(pid_, signal); }

void Command::read_some(std::chrono::milliseconds limit) {
    pollfd wanted[2] = {{stalled_ ? -1 : pipes_[0].get(), POLLIN, 0}, {pipes_[1].get(), POLLIN, 0}};
    if (::poll(wanted, 2, static_cast<int>(limit.count())) <= 0) return;
    for (int i = 0; i < 2; ++i) {
        if (wanted[i].revents == 0) continue;
        char room[4096];
        const ssize_t got = ::read(pipes_[i].get(), room, sizeof room);
        if (got > 0) texts_[i].append(room, static_cast<std::size_t>(got));
        if (got == 0) pipes_[i].reset();
    }
}

std::optional<int> Command::wait(std::chrono::milliseconds limit) {
    eventually(limit, [&] {
        read_some(1ms);
        int status = 0;
        if (!code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
            code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        // To the end of its output; a process that survived it may hold that open for ever.
        return code_ && ((!pipes_[0] && !pipes_[1]) || stalled_ || !processes().empty());
    });
    return code_;
}

bool Command::says(const std::string& text, int times, std::chrono::milliseconds limit) {
    return eventually(limit, [&] {
        read_some(1ms);
        return count_of(out(), text) >= times;
    });
}

std::vector<std::string> Command::lines() const {
    std::vector<std::string> all;
    std::istringstream in(out());
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

std::set<pid_t> Command::processes() const {
    std::set<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
        if (pid <= 0 || pid == ::getpid()) continue;
        std::ifstream file(entry.path() / "environ", std::ios::binary);
        const std::string all(std::istreambuf_iterator<char>(file), {});
        // Variables end with a zero byte; ours was put first, but a program may sort them.
        const std::size_t at = all.find(mark_ + '\0');
        if (at != std::string::npos && (at == 0 || all[at - 1] == '\0')) found.insert(pid);
    }
    return found;
}

std::set<pid_t> Command::ranks() const {
    std::set<pid_t> found = processes();
    std::erase_if(found, [&](pid_t pid) { return pid == pid_ || name_of(pid) == kSubreaper; });
    return found;
}

pid_t Command::subreaper() const {
    for (const pid_t pid : processes())
        if (name_of(pid) == kSubreaper) return pid;
    return -1;
}

bool Command::left_nothing(std::chrono::milliseconds limit) const {
    return eventually(limit, [&] { return processes().empty(); });
}

Words run_helper(Words options, const Words& what) {
    options.insert(options.begin(), "run");
    options.push_back(variable("TESTED_HELPER"));
    options.insert(options.end(), what.begin(), what.end());
    return options;
}

int count_of(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
    return count;
}

} // namespace plexus::testing
