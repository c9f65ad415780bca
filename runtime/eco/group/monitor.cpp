// SPDX-License-Identifier: BSD-3-Clause
#include "group/monitor.h"

#include <utility>

namespace plexus::eco::detail {

using Clock = std::chrono::steady_clock;

Monitor::Monitor(std::function<void(Job)> hand_over)
  : state_(new State{std::move(hand_over), {}, {}, {}, {}, {}})
  , thread_([state = state_] { loop(*state); }) {}

Monitor::~Monitor() {
    stop();
    thread_.get_id() == std::this_thread::get_id() ? thread_.detach() : thread_.join();
}

void Monitor::stop() {
    const bool own = thread_.get_id() == std::this_thread::get_id();
    {
        const Lock hold(state_->mutex);
        state_->stops = true;
        while (state_->hands_over && !own) state_->changed.wait(state_->mutex);
    }
    state_->changed.notify_all();
}

void Monitor::after(Clock::duration time, Job job) {
    bool first = false;
    {
        const Lock hold(state_->mutex);
        const auto at = state_->timers.emplace(Clock::now() + time, std::move(job));
        first = at == state_->timers.begin();
    }
    if (first) state_->changed.notify_all(); // the thread sleeps until the first one is due
}

void Monitor::loop(State& state) {
    for (;;) {
        Job due;
        {
            const Lock hold(state.mutex);
            for (;;) {
                if (state.stops) return;
                const auto next = state.timers.begin();
                if (next == state.timers.end()) {
                    state.changed.wait(state.mutex);
                } else if (const auto when = next->first; Clock::now() < when) {
                    state.changed.wait_until(state.mutex, when);
                } else {
                    due = std::move(next->second);
                    state.timers.erase(next);
                    state.hands_over = true;
                    break;
                }
            }
        }
        state.hand_over(std::exchange(due, nullptr));
        {
            const Lock hold(state.mutex);
            state.hands_over = false;
        }
        state.changed.notify_all();
    }
}

} // namespace plexus::eco::detail
