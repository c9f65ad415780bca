// SPDX-License-Identifier: BSD-3-Clause
#include "exec/watch.h"

#include "exec/team.h"

#include <algorithm>

namespace plexus::eco::exec {

using Clock = std::chrono::steady_clock;

Watch::Watch()
  : state_(std::make_shared<State>())
  , thread_([state = state_] { loop(state); }) {}

Watch::~Watch() {
    {
        const std::lock_guard hold(state_->mutex);
        state_->stops = true;
    }
    state_->news.notify_all();
    thread_.get_id() == std::this_thread::get_id() ? thread_.detach() : thread_.join();
}

void Watch::add(const std::shared_ptr<Team>& team, std::chrono::milliseconds every) {
    const std::lock_guard hold(state_->mutex);
    for (const Watched& each : state_->teams)
        if (each.team.lock() == team) return;
    state_->teams.push_back({team, every, Clock::now() + every});
    state_->news.notify_all();
}

void Watch::run(std::function<void()> job) {
    {
        const std::lock_guard hold(state_->mutex);
        state_->jobs.push_back(std::move(job));
    }
    state_->news.notify_all();
}

void Watch::loop(const std::shared_ptr<State>& state) {
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
        if (state->teams.empty()) {
            state->news.wait(hold);
            continue;
        }
        const auto next =
            std::min_element(state->teams.begin(), state->teams.end(),
                             [](const Watched& one, const Watched& other) { return one.due < other.due; });
        if (Clock::now() < next->due) {
            state->news.wait_until(hold, Clock::time_point(next->due));
            continue;
        }
        Watched watched = std::move(*next);
        state->teams.erase(next);
        hold.unlock();
        bool waiting = false;
        if (const auto team = watched.team.lock()) waiting = team->look_after();
        hold.lock();
        const bool there = // it was added again meanwhile
            std::any_of(state->teams.begin(), state->teams.end(), [&](const Watched& other) {
                return !watched.team.owner_before(other.team) && !other.team.owner_before(watched.team);
            });
        if (!waiting || there) continue;
        watched.due = Clock::now() + watched.every;
        state->teams.push_back(std::move(watched));
    }
}

} // namespace plexus::eco::exec
