// SPDX-License-Identifier: BSD-3-Clause
// A loopback TCP connection driven as fast as the kernel lets a program: two processes,
// non-blocking sockets without delay, both sides spin.
#include "tools/limits/machine.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace plexus::limits {

using tools::benchmark::best_of;
using tools::benchmark::Clock;
using tools::benchmark::seconds_since;

namespace {

bool write_all(int fd, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t done = ::send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (done > 0) {
            data += done;
            size -= static_cast<std::size_t>(done);
        } else if (done == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        }
    }
    return true;
}

bool read_all(int fd, char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t done = ::recv(fd, data, size, MSG_DONTWAIT);
        if (done > 0) {
            data += done;
            size -= static_cast<std::size_t>(done);
        } else if (done == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        }
    }
    return true;
}

/// A connected pair of loopback sockets.
bool connect_pair(int (&ends)[2]) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return false;
    ends[0] = ends[1] = -1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    bool fine = ::bind(listener, generic, length) == 0 && ::listen(listener, 1) == 0 &&
                ::getsockname(listener, generic, &length) == 0;
    if (fine) {
        ends[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        fine = ends[0] >= 0 && ::connect(ends[0], generic, length) == 0;
        if (fine) ends[1] = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        fine = fine && ends[1] >= 0;
    }
    const int cause = errno;
    ::close(listener);
    const int on = 1;
    for (const int end : ends)
        if (fine) fine = ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
    if (!fine) errno = cause;
    return fine;
}

/// Runs `far(fd)` in a child process and `near(fd)` here; the child never outlives it.
template <class Far, class Near>
double with_peer(const Plan& plan, Far far, Near near) {
    int ends[2];
    if (!connect_pair(ends)) return -1;
    const pid_t child = ::fork();
    if (child < 0) return -1;
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::close(ends[0]);
        pin(plan.cores.second);
        far(ends[1]);
        ::_exit(0);
    }
    ::close(ends[1]);
    pin(plan.cores.first);
    const double result = near(ends[0]);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return result;
}

} // namespace

double socket_us(const Plan& plan, std::size_t bytes) {
    std::vector<char> buffer(bytes, 1);
    const auto far = [&](int fd) {
        while (read_all(fd, buffer.data(), bytes) && write_all(fd, buffer.data(), bytes)) {}
    };
    const auto near = [&](int fd) {
        const auto round = [&](std::uint64_t trips) {
            const auto start = Clock::now();
            for (std::uint64_t trip = 0; trip < trips; ++trip)
                if (!write_all(fd, buffer.data(), bytes) || !read_all(fd, buffer.data(), bytes)) return -1.0;
            return seconds_since(start);
        };
        return best_of(plan.effort(1000), round).each() / 2 * 1e6;
    };
    return with_peer(plan, far, near);
}

double socket_bandwidth(const Plan& plan, std::size_t bytes) {
    std::vector<char> buffer(bytes, 1);
    constexpr std::uint64_t kAnswerEvery = 16;
    const auto far = [&](int fd) {
        for (;;) {
            for (std::uint64_t piece = 0; piece < kAnswerEvery; ++piece)
                if (!read_all(fd, buffer.data(), bytes)) return;
            if (!write_all(fd, buffer.data(), 1)) return;
        }
    };
    const auto near = [&](int fd) {
        const auto round = [&](std::uint64_t windows) {
            const auto start = Clock::now();
            for (std::uint64_t window = 0; window < windows; ++window) {
                for (std::uint64_t piece = 0; piece < kAnswerEvery; ++piece)
                    if (!write_all(fd, buffer.data(), bytes)) return -1.0;
                if (window > 0 && !read_all(fd, buffer.data(), 1)) return -1.0; // one window ahead
            }
            if (!read_all(fd, buffer.data(), 1)) return -1.0;
            return seconds_since(start);
        };
        return static_cast<double>(kAnswerEvery * bytes) / best_of(plan.effort(4), round).each() / 1e6;
    };
    return with_peer(plan, far, near);
}

} // namespace plexus::limits
