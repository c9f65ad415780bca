// SPDX-License-Identifier: BSD-3-Clause
// One method's place in the poll loop. Counters belong to whoever polls; what others read
// of them is copied out under no lock and may be a turn old.
#pragma once

#include "base/clock.h"
#include "base/grow_only.h"
#include "plexus/module/abi.h"
#include "poll/auto_skip.h"
#include "poll/watcher.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace plexus::poll {

/// What a lane is made of.
struct LaneSource {
    std::string name;
    const plexus_ops* ops = nullptr;
    plexus_module* module = nullptr;
    bool sleeps = false; ///< PLEXUS_CAP_SLEEP
    bool blocking = false;
    std::optional<std::uint32_t> skip_poll; ///< nullopt: auto
};

struct Lane {
    Lane(LaneSource from, const AutoSkip::Limits& limits)
      : source(std::move(from))
      , poll(source.ops->poll)
      , module(source.module)
      , automatic(!source.skip_poll)
      , skip(limits)
      , turns(source.skip_poll.value_or(1)) {}

    LaneSource source;
    int32_t (*poll)(plexus_module*, std::uint32_t);
    plexus_module* module;

    // Set by any thread, read by the one that polls; each is the whole message.
    std::atomic<bool> automatic;
    std::atomic<bool> confined{false};
    std::atomic<std::uint32_t> guards{0};
    std::atomic<std::uint32_t> fixed_turns{1};

    // The polling thread's own.
    AutoSkip skip;
    bool every_turn = false;          ///< it is among LaneTurns' `asked_`
    std::uint64_t due = 0;            ///< the turn in which it is asked next
    std::uint64_t last_turn = 0;      ///< of the last measured poll
    std::uint64_t last_end = 0;       ///< of that one, ticks
    std::uint64_t others_seen = 0;    ///< hits of other lanes up to the last measured poll
    std::uint64_t others_busy_at = 0; ///< ticks, when that number last rose
    std::uint64_t own_seen = 0;       ///< hits of this lane up to then
    std::uint64_t busy_at = 0;        ///< ticks, when that number last rose
    bool skipped = false;             ///< `auto` has it wait: one of LaneTurns' idlers
    bool timed = true;                ///< polls are measured: the lane is not known to be cheap and in use

    // Written by the polling thread, read by reports.
    std::atomic<std::uint32_t> turns;
    std::atomic<std::uint64_t> polls{0};
    std::atomic<std::uint64_t> hits{0};
    std::atomic<double> cost_ticks{0};

    std::unique_ptr<Watcher> watcher; ///< blocking lanes
};

/// Lanes in the order in which they were added. Each method has one.
using Lanes = GrowOnly<Lane, 64>;

/// Adds one to a counter that a single thread writes: no locked instruction.
template <class T>
void bump(std::atomic<T>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace plexus::poll
