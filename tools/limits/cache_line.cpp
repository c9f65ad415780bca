// SPDX-License-Identifier: BSD-3-Clause
// The cost of moving a cache line from one core to another, and of a plain ring of such lines. Two threads
// share memory as two processes would.
#include "tools/limits/machine.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

namespace plexus::limits {

using tools::benchmark::best_of;
using tools::benchmark::Clock;
using tools::benchmark::seconds_since;

namespace {

constexpr std::size_t kLine = 64;

struct alignas(2 * kLine) Turn { // two lines: the processor prefetches the neighbour
    std::atomic<std::uint64_t> value{0};
};

/// Seconds of so many round trips, after a tenth as many that are not counted.
double line_round(const Plan& plan, std::uint64_t counted) {
    const std::uint64_t warm = counted / 10;
    const std::uint64_t trips = warm + counted;
    Turn turn;
    std::thread far([&] {
        pin(plan.cores.second);
        for (std::uint64_t trip = 0; trip < trips; ++trip) {
            // [to] pairs with the store below in the other thread, [fro] with its load.
            while (turn.value.load(std::memory_order_acquire) != 2 * trip + 1) {}
            turn.value.store(2 * trip + 2, std::memory_order_release);
        }
    });
    pin(plan.cores.first);
    const auto bounce = [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t trip = from; trip < to; ++trip) {
            turn.value.store(2 * trip + 1, std::memory_order_release);
            while (turn.value.load(std::memory_order_acquire) != 2 * trip + 2) {}
        }
    };
    bounce(0, warm);
    const auto start = Clock::now();
    bounce(warm, trips);
    const double taken = seconds_since(start);
    far.join();
    return taken;
}

struct alignas(kLine) Slot {
    std::atomic<std::uint64_t> turn{0}; // index + 1 of the message that is in here
    std::uint64_t payload = 0;
};

constexpr std::uint64_t kSlots = 1024;

/// Seconds of so many messages; negative if the reader read other ones.
double ring_round(const Plan& plan, std::uint64_t messages) {
    const auto slots = std::make_unique<Slot[]>(kSlots);
    Turn taken_up_to;
    std::atomic<std::uint64_t> sum{0};
    std::thread reader([&] {
        pin(plan.cores.second);
        std::uint64_t total = 0;
        for (std::uint64_t at = 0; at < messages; ++at) {
            Slot& slot = slots[at % kSlots];
            // [take] pairs with [publish]: the payload is there.
            while (slot.turn.load(std::memory_order_acquire) != at + 1) {}
            total += slot.payload;
            // [free] pairs with [room]: the writer may use what lies behind.
            if (at % (kSlots / 4) == 0) taken_up_to.value.store(at, std::memory_order_release);
        }
        taken_up_to.value.store(messages, std::memory_order_release);
        sum.store(total, std::memory_order_relaxed); // read after join()
    });
    pin(plan.cores.first);
    std::uint64_t room_up_to = kSlots;
    const auto start = Clock::now();
    for (std::uint64_t at = 0; at < messages; ++at) {
        while (at >= room_up_to)
            room_up_to = taken_up_to.value.load(std::memory_order_acquire) + kSlots; // [room]
        Slot& slot = slots[at % kSlots];
        slot.payload = at;
        slot.turn.store(at + 1, std::memory_order_release); // [publish]
    }
    while (taken_up_to.value.load(std::memory_order_acquire) != messages) {}
    const double taken = seconds_since(start);
    reader.join();
    return sum.load(std::memory_order_relaxed) == messages * (messages - 1) / 2 ? taken : -1;
}

} // namespace

double cache_line_us(const Plan& plan) {
    return best_of(plan.effort(10'000), [&](std::uint64_t trips) { return line_round(plan, trips); }).each() /
           2 * 1e6;
}

double ring_rate(const Plan& plan) {
    return 1 / best_of(plan.effort(200'000), [&](std::uint64_t messages) {
                   return ring_round(plan, messages);
               }).each();
}

} // namespace plexus::limits
