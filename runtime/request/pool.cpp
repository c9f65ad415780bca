// SPDX-License-Identifier: BSD-3-Clause
#include "request/pool.h"

#include "base/log.h"

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <system_error>
#include <utility>

namespace plexus::request {

struct Pool::Worker {
    std::thread thread;
    const void* label = nullptr;
    bool ended = false;
};

struct Pool::State {
    State(std::size_t threads, std::size_t most)
      : wanted(threads)
      , most_bytes(most) {}

    struct Task {
        std::size_t bytes;
        std::function<void()> run;
        const void* label;
    };
    const std::size_t wanted;
    const std::size_t most_bytes;
    mutable std::mutex mutex; // a leaf: no task runs under it
    std::condition_variable work;
    std::condition_variable ended;
    std::deque<Task> tasks;
    std::size_t bytes = 0;
    std::size_t running = 0;
    bool stopping = false;
    Clock::time_point deadline = Clock::time_point::max();
    std::size_t dropped = 0;
    std::function<void()> idle;
    std::list<Worker> workers;  ///< a worker stays where it is
    std::list<Worker> left;     ///< left behind
    std::shared_ptr<void> keep; ///< of those left behind; the last one takes it along
    std::size_t left_behind = 0;
};

Pool::Pool(std::size_t threads, std::size_t most_bytes)
  : state_(std::make_shared<State>(threads, most_bytes)) {}

Pool::~Pool() { stop(); }

bool Pool::submit(std::size_t bytes, std::function<void()> task, const void* label) {
    State& state = *state_;
    {
        const std::lock_guard hold(state.mutex);
        if (state.stopping || (state.bytes > 0 && state.bytes + bytes > state.most_bytes)) return false;
        while (state.workers.size() < state.wanted) {
            Worker& worker = state.workers.emplace_back();
            try {
                worker.thread = std::thread([kept = state_, &worker] { loop(kept, worker); });
            } catch (const std::system_error&) {
                state.workers.pop_back();
                if (state.workers.empty()) throw; // fewer would do
                break;
            }
        }
        state.tasks.push_back({bytes, std::move(task), label});
        state.bytes += bytes;
    }
    state.work.notify_one();
    return true;
}

bool Pool::stopping() const {
    const std::lock_guard hold(state_->mutex);
    return state_->stopping;
}

bool Pool::idle() const {
    const std::lock_guard hold(state_->mutex);
    return state_->tasks.empty() && state_->running == 0;
}

std::size_t Pool::dropped() const {
    const std::lock_guard hold(state_->mutex);
    return state_->dropped;
}

void Pool::close(Clock::time_point deadline, std::function<void()> idle) {
    {
        const std::lock_guard hold(state_->mutex);
        state_->stopping = true;
        state_->deadline = deadline;
        state_->idle = std::move(idle);
    }
    state_->work.notify_all();
}

std::vector<const void*> Pool::release(Clock::time_point deadline, std::shared_ptr<void> keep) {
    State& state = *state_;
    std::list<Worker> ended;
    std::vector<const void*> labels;
    {
        std::unique_lock hold(state.mutex);
        const auto all_ended = [&] {
            for (const Worker& worker : state.workers)
                if (!worker.ended) return false;
            return true;
        };
        // wait_until(max) overflows in some versions of the standard library.
        if (deadline == Clock::time_point::max()) {
            state.ended.wait(hold, all_ended);
        } else {
            state.ended.wait_until(hold, deadline, all_ended);
        }
        for (auto worker = state.workers.begin(); worker != state.workers.end();) {
            const auto next = std::next(worker);
            if (worker->ended) {
                ended.splice(ended.end(), state.workers, worker);
            } else {
                labels.push_back(worker->label);
                worker->thread.detach();
                state.left.splice(state.left.end(), state.workers, worker);
                ++state.left_behind;
            }
            worker = next;
        }
        if (!labels.empty()) state.keep = std::move(keep);
    }
    for (Worker& worker : ended) worker.thread.join();
    return labels;
}

std::size_t Pool::stop(Clock::time_point deadline) {
    if (!stopping()) close(deadline);
    release(Clock::time_point::max(), nullptr);
    return dropped();
}

void Pool::loop(const std::shared_ptr<State>& state, Worker& self) {
    std::unique_lock hold(state->mutex);
    for (;;) {
        state->work.wait(hold, [&] { return state->stopping || !state->tasks.empty(); });
        if (state->tasks.empty()) break;
        if (state->stopping && Clock::now() >= state->deadline) {
            state->dropped += state->tasks.size();
            const std::deque<State::Task> dropped = std::exchange(state->tasks, {});
            hold.unlock();
            break; // what they hold ends here, under no lock
        }
        State::Task task = std::move(state->tasks.front());
        state->tasks.pop_front();
        self.label = task.label;
        ++state->running;
        hold.unlock();
        try {
            task.run();
        } catch (const std::exception& error) { // for instance: no memory to tell of what a handler threw
            log::error("request", "a threaded handler ended without an answer: {}", error.what());
        }
        task.run = nullptr; // what it held ends here, not under the lock
        hold.lock();
        state->bytes -= task.bytes;
        --state->running;
    }
    if (!hold.owns_lock()) hold.lock();
    const std::function<void()> idle =
        state->tasks.empty() && state->running == 0 ? state->idle : std::function<void()>();
    hold.unlock();
    if (idle) idle();
    std::shared_ptr<void> keep; // may be the last owner of the pool: ends under no lock
    hold.lock();
    self.ended = true;
    state->ended.notify_all();
    if (state->left_behind > 0 && --state->left_behind == 0) keep = std::move(state->keep);
    hold.unlock();
}

} // namespace plexus::request
