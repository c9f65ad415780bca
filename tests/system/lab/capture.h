// SPDX-License-Identifier: BSD-3-Clause
// What went over the network cards of a lab's host since the object began, but for loopback. One thread.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace plexus::testing {

class Capture {
  public:
    Capture()
      : socket_(::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
        const int room = 32 << 20;
        if (socket_ < 0 || ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
            fail("capture");
    }
    ~Capture() { ::close(socket_); }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    /// Calls `see` with each frame since the last call, from its IP header on. Ends the program if a frame
    /// was missed.
    template <class See>
    void each(See&& see) {
        const unsigned loopback = ::if_nametoindex("lo");
        std::array<char, 65536> frame{};
        for (;;) {
            sockaddr_ll card{};
            socklen_t size = sizeof card;
            const ssize_t got =
                ::recvfrom(socket_, frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&card), &size);
            if (got < 0 && errno == EAGAIN) break;
            if (got < 0) fail("recvfrom");
            if (static_cast<unsigned>(card.sll_ifindex) != loopback)
                see(std::string_view(frame.data(), static_cast<std::size_t>(got)));
        }
        tpacket_stats lost{};
        socklen_t size = sizeof lost;
        if (::getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &lost, &size) != 0 || lost.tp_drops > 0)
            fail("frames were missed");
    }

  private:
    [[noreturn]] static void fail(const char* what) {
        std::perror(what);
        std::exit(1);
    }
    int socket_;
};

} // namespace plexus::testing
