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
        ops_.arm = [](plexus_module* self, std::uint64_t*) { return of(self).arm(); };
        ops_.wait_fd = [](plexus_module* self) { return of(self).fd_.get(); };
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
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written =
            ::write(fd_.get(), &one, sizeof one); // full: it is readable anyway
    }

    // All atomics here are sequentially consistent: the test is no place for anything finer.
    std::atomic<std::uint64_t> polls{0};
    std::atomic<std::uint64_t> taken{0};
    std::atomic<std::uint64_t> arms{0};
    std::atomic<int> inside{0};       ///< threads in poll() or arm() now
    std::atomic<bool> crowded{false}; ///< two at once
    std::function<void()> on_poll;    ///< set before anybody polls

  private:
    static FakeLane& of(plexus_module* self) { return *reinterpret_cast<FakeLane*>(self); }

    std::int32_t poll(std::uint32_t budget) {
        if (++inside > 1) crowded = true;
        ++polls;
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
        const bool busy = pending_ > 0;
        --inside;
        return busy ? PLEXUS_AGAIN : PLEXUS_OK;
    }

    plexus_ops ops_{};
    UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::atomic<std::uint64_t> pending_{0};
};

} // namespace plexus::testing
