// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory: rank 0 registers an array. Every other context writes its own part of the array one-sided, and
// a request runs at the owner when a part has arrived. Then each context reads the whole array.
//
//     plexus run -n 3 -- bulk
#include <plexus/plexus.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <numeric>
#include <span>
#include <vector>

namespace {

constexpr std::uint64_t kPart = 1 << 20; // elements a context

struct Board {
    plexus::GlobalSpan<double> memory;
    std::span<const double> own;         // the same memory, seen by its owner
    std::atomic<std::uint32_t> parts{0}; // the waiting thread reads this number only
    bool wrong = false;                  // read after fence() only
};
inline constexpr plexus::Request<plexus::GlobalSpan<double>(Board&)> borrow{"board.borrow"};
inline constexpr plexus::Request<void(Board&, std::uint64_t, double)> landed{"board.landed"};

/// Every element of a part holds the writer's rank.
bool holds(std::span<const double> part, double value) {
    for (const double each : part)
        if (each != value) return false;
    return true;
}

bool write_and_read(plexus::Context& here, const plexus::GlobalPointer<Board>& board) {
    const auto memory = board.call(borrow).get();
    const double mine = here.rank();
    const std::uint64_t first = (here.rank() - 1) * kPart;
    const std::vector<double> part(kPart, mine);
    memory.put_then(first, part, board, landed, first, mine).get();
    here.fence().get(); // all parts are in place

    std::vector<double> all(memory.size());
    memory.get(0, all).get();
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    const double people = here.size() - 1;
    std::printf("rank %u read %zu numbers by %s, their sum is %.0f\n", here.rank(), all.size(),
                board.method().c_str(), sum);
    return sum == kPart * people * (people + 1) / 2;
}

int run(int argc, char** argv) {
    plexus::Context here{argc, argv};
    Board board;
    plexus::BoundSpan<double> memory;
    plexus::Bound<Board> bound;
    bool good = true;
    if (here.rank() == 0) {
        here.on(borrow, [](Board& it) { return it.memory; });
        here.on(landed, [](Board& it, std::uint64_t first, double value) {
            if (!holds(it.own.subspan(first, kPart), value)) it.wrong = true;
            it.parts.fetch_add(1, std::memory_order_relaxed);
        });
        // Memory that peers reach best; here.bind(std::span(…)) registers memory of the program's own.
        memory = here.allocate<double>((here.size() - 1) * kPart);
        board.memory = memory.span();
        board.own = memory.local();
        bound = here.bind(board);
        here.publish("board", bound.pointer());
        here.run_until([&] { return board.parts.load(std::memory_order_relaxed) + 1 == here.size(); });
        here.fence().get();
        std::printf("%u parts have landed\n", board.parts.load(std::memory_order_relaxed));
        good = !board.wrong;
    } else {
        good = write_and_read(here, here.lookup<Board>("board").get());
    }
    here.fence().get(); // the memory stays until everybody has read it
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bulk: %s\n", error.what());
        return 1;
    }
}
