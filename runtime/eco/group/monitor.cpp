// SPDX-License-Identifier: BSD-3-Clause
#include "group/monitor.h"

#include "group/group_state.h"

#include <algorithm>

namespace plexus::eco::detail {

using Clock = std::chrono::steady_clock;

Monitor::Monitor()
  : state_(std::make_shared<State>())
  , thread_([state = state_] { loop(state); }) {}

Monitor::~Monitor() {
    {
        const std::lock_guard hold(state_->mutex);
        state_->stops = true;
    }
    state_->news.notify_all();
    thread_.get_id() == std::this_thread::get_id() ? thread_.detach() : thread_.join();
}

void Monitor::add(const std::shared_ptr<GroupState>& group, std::chrono::milliseconds every) {
    const std::lock_guard hold(state_->mutex);
    for (const Watched& each : state_->groups)
        if (each.group.lock() == group) return;
    state_->groups.push_back({group, every, Clock::now() + every});
    state_->news.notify_all();
}

void Monitor::run(std::function<void()> job) {
    {
        const std::lock_guard hold(state_->mutex);
        state_->jobs.push_back(std::move(job));
    }
    state_->news.notify_all();
}

void Monitor::loop(const std::shared_ptr<State>& state) {
    std::unique_lock hold(state->mutex);
    while (!state->stops) {
        if (!state->jobs.empty()) {
            auto job = std::move(state->jobs.front());
            state->jobs.pop_front();
            hold.unlock();
            job();
            job = nullptr; // what it kept may end here
            hold.lock();
            continue;
        }
        if (state->groups.empty()) {
            state->news.wait(hold);
            continue;
        }
        const auto next =
            std::min_element(state->groups.begin(), state->groups.end(),
                             [](const Watched& one, const Watched& other) { return one.due < other.due; });
        if (Clock::now() < next->due) {
            state->news.wait_until(hold, Clock::time_point(next->due));
            continue;
        }
        Watched watched = std::move(*next);
        state->groups.erase(next);
        hold.unlock();
        bool waiting = false;
        if (const auto group = watched.group.lock()) waiting = group->look_after();
        hold.lock();
        const bool there = // it was added again meanwhile
            std::any_of(state->groups.begin(), state->groups.end(), [&](const Watched& other) {
                return !watched.group.owner_before(other.group) && !other.group.owner_before(watched.group);
            });
        if (!waiting || there) continue;
        watched.due = Clock::now() + watched.every;
        state->groups.push_back(std::move(watched));
    }
}

} // namespace plexus::eco::detail
