// SPDX-License-Identifier: BSD-3-Clause
#include "exec/watch.h"

#include "exec/team.h"

#include <algorithm>

namespace plexus::eco::exec {

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
    for (const auto& each : state_->teams)
        if (each.lock() == team) return;
    state_->teams.push_back(team);
    state_->every = every;
    if (state_->teams.size() == 1) state_->news.notify_all();
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
        if (state->news.wait_for(hold, state->every, [&] { return state->stops || !state->jobs.empty(); }))
            continue;
        const std::vector<std::weak_ptr<Team>> teams = std::move(state->teams);
        state->teams.clear();
        hold.unlock();
        std::vector<std::weak_ptr<Team>> waiting;
        for (const auto& each : teams)
            if (const auto team = each.lock(); team != nullptr && team->look_after()) waiting.push_back(team);
        hold.lock();
        for (const auto& each : waiting) { // unless it was added again meanwhile
            const bool there = std::any_of(state->teams.begin(), state->teams.end(), [&](const auto& other) {
                return !each.owner_before(other) && !other.owner_before(each);
            });
            if (!there) state->teams.push_back(each);
        }
    }
}

} // namespace plexus::eco::exec
