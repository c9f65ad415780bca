// SPDX-License-Identifier: BSD-3-Clause
// ZeroMQ between two processes: PAIR sockets, used as in the guide of ZeroMQ. zmq_pingpong latency|stream
// ENDPOINT CORE0 CORE1 ROUNDS SECONDS BYTES…
#include "tools/benchmark/timing.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <zmq.h>

namespace {

namespace tools = plexus::tools::benchmark;

constexpr long kWindow = 64;

void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

[[noreturn]] void give_up(const char* doing) {
    std::fprintf(stderr, "zmq_pingpong: %s: %s\n", doing, zmq_strerror(zmq_errno()));
    std::exit(3);
}

class Peer {
  public:
    Peer(const char* endpoint, bool binds)
      : context_(zmq_ctx_new())
      , socket_(zmq_socket(context_, ZMQ_PAIR)) {
        const int linger = 0;
        zmq_setsockopt(socket_, ZMQ_LINGER, &linger, sizeof linger);
        if ((binds ? zmq_bind(socket_, endpoint) : zmq_connect(socket_, endpoint)) != 0) give_up(endpoint);
    }
    ~Peer() {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send(const std::vector<char>& bytes) {
        if (zmq_send(socket_, bytes.data(), bytes.size(), 0) < 0) give_up("send");
    }
    /// The size of the message; keeps at most as many bytes as `bytes` holds.
    std::size_t receive(std::vector<char>& bytes) {
        const int size = zmq_recv(socket_, bytes.data(), bytes.size(), 0);
        if (size < 0) give_up("receive");
        return static_cast<std::size_t>(size);
    }

  private:
    void* context_;
    void* socket_;
};

/// Answers each message (latency) or each window of them (stream) until an empty one comes.
void serve(Peer& peer, bool stream, std::size_t room) {
    std::vector<char> bytes(room);
    for (long seen = 1;; ++seen) {
        const std::size_t size = peer.receive(bytes);
        if (size == 0) return;
        if (!stream) peer.send({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
        if (stream && seen % kWindow == 0) peer.send({1});
    }
}

/// Seconds of so many round trips or windows.
double round_of(Peer& peer, bool stream, std::vector<char>& bytes, std::uint64_t count) {
    const auto start = tools::Clock::now();
    for (std::uint64_t turn = 0; turn < count; ++turn) {
        for (long message = 0; message < (stream ? kWindow : 1); ++message) peer.send(bytes);
        peer.receive(bytes);
    }
    return tools::seconds_since(start);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 8) {
        std::fputs("usage: zmq_pingpong latency|stream ENDPOINT CORE0 CORE1 ROUNDS SECONDS BYTES…\n", stderr);
        return 2;
    }
    const bool stream = std::string(argv[1]) == "stream";
    const auto rounds = static_cast<std::uint32_t>(std::atoi(argv[5]));
    const double seconds = std::atof(argv[6]);
    std::size_t largest = 1;
    for (int at = 7; at < argc; ++at) largest = std::max(largest, std::strtoul(argv[at], nullptr, 10));

    const pid_t child = ::fork(); // before any context: they do not survive a fork
    if (child < 0) return 3;
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(std::atoi(argv[4]));
        Peer peer(argv[2], true);
        serve(peer, stream, largest);
        return 0;
    }
    pin(std::atoi(argv[3]));
    {
        Peer peer(argv[2], false); // connects again until the other side is there
        for (int at = 7; at < argc; ++at) {
            std::vector<char> bytes(std::strtoul(argv[at], nullptr, 10), 1);
            const auto run = [&](std::uint64_t count) { return round_of(peer, stream, bytes, count); };
            const double best = tools::best_of({0, seconds, 20, rounds}, run).each() / (stream ? kWindow : 2);
            const double size = static_cast<double>(bytes.size());
            if (stream) {
                std::printf("{\"size_bytes\":%zu,\"bandwidth_MBps\":%.6g,\"messages_per_s\":%.6g}\n",
                            bytes.size(), size / best / 1e6, 1 / best);
            } else {
                std::printf("{\"size_bytes\":%zu,\"one_way_us\":%.6g}\n", bytes.size(), best * 1e6);
            }
        }
        peer.send({});
        ::waitpid(child, nullptr, 0);
    }
    return 0;
}
