// SPDX-License-Identifier: BSD-3-Clause
// A module that only counts: events are posted by the test, a poll takes them. Its
// descriptor is an eventfd. post() on any thread, the rest as the module contract says.
#pragma once

#include "base/unique_fd.h"
#include "plexus/module/abi.h"
#include "poll/lane.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <sys/eventfd.h>

namespace plexus::testing {

class FakeLane {
  public:
    FakeLane() {
        ops_.size = PLEXUS_OPS_SIZE;
        ops_.caps = PLEXUS_CAP_SLEEP;
        ops_.poll = [](plexus_module* self, std::uint32_t budget) { return of(self).poll(budget); };
        ops_.arm = [](plexus_module* self, std::uint64_t* sleep_ns) {
            *sleep_ns = std::min(*sleep_ns, of(self).nap_ns.load());
            return of(self).arm();
        };
        ops_.wait_fd = [](plexus_module* self) { return of(self).shown_fd(); };
    }

    poll::LaneSource source(std::optional<std::uint32_t> skip_poll = std::nullopt) {
        poll::LaneSource made;
        made.name = "fake";
        made.ops = &ops_;
        made.module = reinterpret_cast<plexus_module*>(this);
        made.sleeps = true;
        made.skip_poll = skip_poll;
        return made;
    }

    void post() {
        pending_.fetch_add(1);
        if (rings_when_armed && !armed_.exchange(false)) return;
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written =
            ::write(fd_.get(), &one, sizeof one); // full: it is readable anyway
    }
    /// Work that the descriptor does not show: arm() answers AGAIN until a poll has taken it.
    void post_unseen() { pending_.fetch_add(1); }

    // All atomics here are sequentially consistent: the test is no place for anything finer.
    std::atomic<std::uint64_t> polls{0};
    std::atomic<std::uint64_t> taken{0};
    std::atomic<std::uint64_t> arms{0};
    std::atomic<int> inside{0};                    ///< threads in poll() or arm() now
    std::atomic<bool> crowded{false};              ///< two at once
    std::atomic<std::uint64_t> nap_ns{UINT64_MAX}; ///< the longest sleep that arm() allows
    // Set before anybody polls.
    std::function<void()> on_poll;
    std::function<void()> on_arm; ///< before arm() looks for work
    int other_fd = -1;            ///< what wait_fd() answers instead, if not negative
    bool rings_when_armed =
        false; ///< the descriptor shows only what is posted between arm() and the next poll

  private:
    static FakeLane& of(plexus_module* self) { return *reinterpret_cast<FakeLane*>(self); }
    int shown_fd() const { return other_fd >= 0 ? other_fd : fd_.get(); }

    std::int32_t poll(std::uint32_t budget) {
        if (++inside > 1) crowded = true;
        ++polls;
        armed_ = false;
        std::uint64_t count; // read in any case: post() writes it after the event can be taken
        [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
        const std::uint64_t now = pending_.exchange(0);
        taken += now;
        if (on_poll) on_poll();
        --inside;
        return static_cast<std::int32_t>(std::min<std::uint64_t>(now, budget));
    }
    std::int32_t arm() {
        if (++inside > 1) crowded = true;
        ++arms;
        if (on_arm) on_arm();
        armed_ = true;
        const bool busy = pending_ > 0;
        --inside;
        return busy ? PLEXUS_AGAIN : PLEXUS_OK;
    }

    plexus_ops ops_{};
    UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::atomic<std::uint64_t> pending_{0};
    std::atomic<bool> armed_{false};
};

/// Costs next to nothing to ask, as memory does. Everything on the polling thread.
class CheapLane {
  public:
    CheapLane() {
        ops_.size = PLEXUS_OPS_SIZE;
        ops_.poll = [](plexus_module* self, std::uint32_t most) {
            auto& lane = *reinterpret_cast<CheapLane*>(self);
            ++lane.polls;
            lane.budget = most;
            if (lane.busy && lane.on_event) lane.on_event();
            return lane.busy ? 1 : 0;
        };
    }
    poll::LaneSource source() {
        poll::LaneSource made;
        made.name = "cheap";
        made.ops = &ops_;
        made.module = reinterpret_cast<plexus_module*>(this);
        return made;
    }

    std::uint64_t polls = 0;
    std::uint32_t budget = 0; ///< of the last poll
    bool busy = false;        ///< each poll handles one event
    std::function<void()> on_event;

  private:
    plexus_ops ops_{};
};

} // namespace plexus::testing
