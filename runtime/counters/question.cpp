// SPDX-License-Identifier: BSD-3-Clause
#include "counters/question.h"

#include "counters/futex.h"

#include <algorithm>
#include <sched.h>

namespace plexus::counters {

using namespace std::chrono_literals;

namespace {

constexpr auto kLook = 50ms; ///< between two looks at whether the context is there

} // namespace

std::uint32_t ask(Header& header) noexcept {
    const std::uint32_t number = header.asked.fetch_add(1, std::memory_order_release) + 1; // [ask]
    wake_sleepers(header.asked);
    return number;
}

Result<bool> wait(Header& header, std::uint32_t question, Clock::time_point deadline,
                  const std::function<bool()>& is_there) {
    for (;;) {
        const std::uint32_t last = header.answered.load(std::memory_order_acquire); // pairs with [answer]
        if (static_cast<std::int32_t>(last - question) >= 0) return true;
        if (!is_there()) return Failure{Status::peer_lost, "the context has ended"};
        const auto left = deadline - Clock::now();
        if (left <= 0ns) return false;
        sleep_while(header.answered, last, std::min<std::chrono::nanoseconds>(left, kLook));
    }
}

Result<std::vector<std::uint64_t>> take(const Memory& memory, Clock::time_point deadline) {
    const Word& sequence = memory.header().sequence;
    for (;;) {
        const std::uint64_t before = sequence.load(std::memory_order_acquire); // pairs with [sample]
        if (before % 2 == 0) {
            auto words = memory.copy();
            if (!words) return words.failure();
            std::atomic_thread_fence(std::memory_order_acquire); // the copy was made before this
            if (sequence.load(std::memory_order_relaxed) == before) return words;
        }
        if (Clock::now() >= deadline)
            return Failure{Status::timed_out, "its counters were half written all the time"};
        ::sched_yield();
    }
}

} // namespace plexus::counters
