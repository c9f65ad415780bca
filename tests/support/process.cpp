// SPDX-License-Identifier: BSD-3-Clause
#include "support/process.h"

#include "support/eventually.h"
#include "support/log_guard.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace plexus::testing {

bool Channel::put(std::span<const std::byte> record) {
    if (record.size() > kLongestRecord)
        throw std::runtime_error("a record of " + std::to_string(record.size()) + " bytes is too long");
    for (;;) {
        if (::send(fd_.get(), record.data(), record.size(), MSG_NOSIGNAL) >= 0) return true;
        if (errno == EPIPE || errno == ECONNRESET) return false;
        if (errno != EINTR) throw std::runtime_error(std::string("send: ") + std::strerror(errno));
    }
}

std::optional<std::vector<std::byte>> Channel::take(std::chrono::milliseconds limit) {
    pollfd item{fd_.get(), POLLIN, 0};
    int ready = 0;
    do {
        ready = ::poll(&item, 1, static_cast<int>((limit * kPatience).count()));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) return std::nullopt;
    std::vector<std::byte> record(kLongestRecord);
    const ssize_t got = ::recv(fd_.get(), record.data(), record.size(), MSG_TRUNC);
    if (got <= 0) return std::nullopt; // records are never empty: 0 is the end
    if (static_cast<std::size_t>(got) > record.size())
        throw std::runtime_error("a record of " + std::to_string(got) + " bytes was cut");
    record.resize(static_cast<std::size_t>(got));
    return record;
}

Process::Process(const std::function<int(Channel&)>& body) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
    UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);
    std::fflush(nullptr); // or the child would print the parent's buffers again
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (pid_ > 0) {
        channel_.emplace(std::move(ours));
        return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ours.reset();
    Channel channel(std::move(theirs));
    const std::size_t quiet = unexpected_lines();
    int code = 99;
    try {
        code = body(channel);
    } catch (const std::exception& error) { std::fprintf(stderr, "child: %s\n", error.what()); }
    if (code == 0 && unexpected_lines() != quiet) code = 98;
    std::fflush(nullptr);
    ::_exit(code);
}

Process::~Process() {
    if (exit_) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
}

void Process::kill(int signal) const {
    if (exit_) return;
    ::kill(pid_, signal);
    if (signal != SIGSTOP) return;
    siginfo_t what = {};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &what, WSTOPPED | WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {}
}

std::optional<int> Process::wait(std::chrono::milliseconds limit) {
    eventually(limit, [this] {
        int status = 0;
        if (!exit_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
            exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return exit_.has_value();
    });
    return exit_;
}

} // namespace plexus::testing
