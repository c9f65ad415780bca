// SPDX-License-Identifier: BSD-3-Clause
// ZeroMQ between two processes: PAIR sockets, used as in the guide of ZeroMQ, at the endpoint that
// ZMQ_ENDPOINT names. The command line is that of peer.h.
#include "tools/limits/peer.h"

#include <zmq.h>

namespace plexus::limits {
namespace {

[[noreturn]] void give_up(const char* doing) {
    std::fprintf(stderr, "zmq_pingpong: %s: %s\n", doing, zmq_strerror(zmq_errno()));
    std::exit(3);
}

/// Never taken apart: its process ends with it.
class Peer {
  public:
    explicit Peer(const Side& side)
      : out_(side.buffers)
      , socket_(zmq_socket(zmq_ctx_new(), ZMQ_PAIR)) {
        out_.assign(side.bytes, std::byte{1});
        in_.assign(std::max<std::size_t>(side.bytes, 1), std::byte{2});
        const char* const endpoint = std::getenv("ZMQ_ENDPOINT");
        if (endpoint == nullptr) {
            std::fputs("zmq_pingpong: ZMQ_ENDPOINT does not say where the two meet\n", stderr);
            std::exit(2);
        }
        // Who connects tries again until the other side is there.
        if ((side.initiates ? zmq_connect(socket_, endpoint) : zmq_bind(socket_, endpoint)) != 0)
            give_up(endpoint);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send() { send(out_.next()); }
    void answer() { send(out_.next().first(0)); }
    void arrived(std::uint64_t messages) {
        for (; taken_ < messages; ++taken_) {
            const auto room = in_.next();
            if (zmq_recv(socket_, room.data(), room.size(), 0) < 0) give_up("receive");
        }
    }

  private:
    void send(std::span<const std::byte> bytes) {
        if (zmq_send(socket_, bytes.data(), bytes.size(), 0) < 0) give_up("send");
    }

    Buffers out_;
    Buffers in_;
    void* socket_;
    std::uint64_t taken_ = 0;
};

} // namespace
} // namespace plexus::limits

int main(int argc, char** argv) {
    using namespace plexus::limits;
    return run_pair<Peer>(Trial("zmq_pingpong", argc, argv));
}
