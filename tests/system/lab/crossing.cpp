// SPDX-License-Identifier: BSD-3-Clause
// The program of the sites' test: rank 0 asks each other rank to count the letters of a text, and each rank
// looks at what its host's network cards carried meanwhile. Prints, a line for each fact:
//   rank 0 reaches rank 1 by tcp        rank 0 to rank 2: tcp: only within …
//   rank 1 captured 240 frames, 120 with the text
#include "plexus/plexus.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

struct Desk {};
constexpr plexus::Request<std::size_t(Desk&, std::string)> count_letters{"crossing.count_letters"};
constexpr char kSecret[] = "this text may be read inside of a site only; ";

/// What went over this host's cards since the object began, but for loopback.
class Capture {
  public:
    Capture()
      : socket_(::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_ALL))) {
        const int room = 32 << 20;
        if (socket_ < 0 || ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
            fail("capture");
    }
    ~Capture() { ::close(socket_); }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    struct Seen {
        std::size_t frames = 0;
        std::size_t readable = 0; ///< frames with the text
    };
    Seen seen() {
        const unsigned loopback = ::if_nametoindex("lo");
        Seen seen;
        std::array<char, 65536> frame{};
        for (;;) {
            sockaddr_ll card{};
            socklen_t size = sizeof card;
            const ssize_t got =
                ::recvfrom(socket_, frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&card), &size);
            if (got < 0 && errno == EAGAIN) break;
            if (got < 0) fail("recvfrom");
            if (static_cast<unsigned>(card.sll_ifindex) == loopback) continue;
            ++seen.frames;
            const std::string_view bytes(frame.data(), static_cast<std::size_t>(got));
            if (bytes.find(kSecret) != bytes.npos) ++seen.readable;
        }
        tpacket_stats lost{};
        socklen_t size = sizeof lost;
        if (::getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &lost, &size) != 0 || lost.tp_drops > 0)
            fail("frames were missed");
        return seen;
    }

  private:
    [[noreturn]] static void fail(const char* what) {
        std::perror(what);
        std::exit(1);
    }
    int socket_;
};

std::string name_of(std::uint32_t rank) { return "desk of rank " + std::to_string(rank); }

void ask(plexus::Context& here, std::uint32_t other) {
    auto far = here.lookup<Desk>(name_of(other)).get();
    std::string text;
    while (text.size() < 20000) text += kSecret;
    std::size_t letters = 0;
    for (int i = 0; i < 5; ++i) letters += far.call(count_letters, text).get();
    std::printf("rank 0 reaches rank %u by %s%s\n", other, far.method().c_str(),
                letters == 5 * text.size() ? "" : ", wrongly");
    try {
        far.use("tcp");
    } catch (const plexus::Error& error) { std::printf("rank 0 to rank %u: %s\n", other, error.what()); }
}

} // namespace

int main(int argc, char** argv) {
    Capture capture;
    plexus::Context here(argc, argv);
    Desk desk;
    here.on(count_letters, [](Desk&, const std::string& text) { return text.size(); });
    const auto bound = here.bind(desk);
    here.publish(name_of(here.rank()), bound.pointer());
    here.fence().get();
    if (here.rank() == 0)
        for (std::uint32_t other = 1; other < here.size(); ++other) ask(here, other);
    here.fence().get();
    const Capture::Seen seen = capture.seen();
    std::printf("rank %u captured %zu frames, %zu with the text\n", here.rank(), seen.frames, seen.readable);
    here.fence().get();
}
