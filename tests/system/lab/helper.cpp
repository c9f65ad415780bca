// SPDX-License-Identifier: BSD-3-Clause
// The program that the lab's tests run on hosts. Plain sockets, so that what is measured is
// the network. The first half of the ranks speaks to the second half, by host names:
//   delay HOST...    ping-pong; prints "one way N us", the least
//   rate HOST...     for 1.5 seconds as much as goes; prints "N kb/s", as received
//   stay             prints "ready" and stays
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr char kPort[] = "5001";

std::size_t number(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
}

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

addrinfo* address(const char* host, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host, kPort, &hints, &found) != 0) fail(host == nullptr ? "own address" : host);
    return found;
}

int accept_one() {
    const addrinfo* own = address(nullptr, AI_PASSIVE);
    const int door = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::bind(door, own->ai_addr, own->ai_addrlen) != 0 || ::listen(door, 1) != 0) fail("listen");
    const int fd = ::accept(door, nullptr, nullptr);
    if (fd < 0) fail("accept");
    return fd;
}

int reach(const char* host) {
    const addrinfo* there = address(host, 0);
    for (int i = 0; i < 200; ++i) {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::connect(fd, there->ai_addr, there->ai_addrlen) == 0) return fd;
        ::close(fd);
        ::usleep(20'000); // the other end does not listen yet
    }
    fail(host);
}

int connection(const std::vector<const char*>& hosts, bool& is_first) {
    const std::size_t rank = number("PLEXUS_JOB_RANK");
    const std::size_t half = number("PLEXUS_JOB_SIZE") / 2;
    is_first = rank < half;
    const int fd = is_first ? reach(hosts.at(rank + half)) : accept_one();
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

int delay(int fd, bool is_first) {
    char byte = 0;
    if (!is_first) {
        while (::read(fd, &byte, 1) == 1)
            if (::write(fd, &byte, 1) != 1) return 1;
        return 0;
    }
    auto least = Clock::duration::max();
    for (int i = 0; i < 100; ++i) {
        const auto start = Clock::now();
        if (::write(fd, &byte, 1) != 1 || ::read(fd, &byte, 1) != 1) fail("ping");
        least = std::min(least, Clock::now() - start);
    }
    std::printf("one way %.1f us\n", std::chrono::duration<double, std::micro>(least).count() / 2);
    return 0;
}

int rate(int fd, bool is_first) {
    static char room[1 << 16];
    const auto start = Clock::now();
    if (is_first) {
        while (Clock::now() - start < std::chrono::milliseconds(1500))
            if (::write(fd, room, sizeof room) < 0) fail("write");
        return 0;
    }
    // From one second's middle to the next one's: the beginning and the end are uneven.
    double bytes = 0;
    Clock::time_point first{}, last{};
    for (ssize_t got; (got = ::read(fd, room, sizeof room)) > 0;) {
        const auto now = Clock::now();
        const auto age = now - start;
        if (age < std::chrono::milliseconds(300) || age > std::chrono::milliseconds(1300)) continue;
        if (first == Clock::time_point{}) {
            first = now;
        } else {
            bytes += static_cast<double>(got);
        }
        last = now;
    }
    std::printf("%.0f kb/s\n", bytes * 8 / 1e3 / std::chrono::duration<double>(last - first).count());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string verb = argc > 1 ? argv[1] : "";
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (verb == "stay") {
        std::puts("ready");
        for (;;) ::pause();
    }
    bool is_first = false;
    const int fd = connection({argv + 2, argv + argc}, is_first);
    return verb == "delay" ? delay(fd, is_first) : rate(fd, is_first);
}
