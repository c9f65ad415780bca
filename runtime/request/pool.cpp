// SPDX-License-Identifier: BSD-3-Clause
#include "request/pool.h"

#include "base/condition_variable.h"
#include "base/log.h"
#include "base/mutex.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <optional>
#include <system_error>
#include <utility>

namespace plexus::request {

class Pool::State : public std::enable_shared_from_this<State> {
  public:
    struct Task {
        std::size_t bytes = 0;
        std::function<void()> run;
        const void* label = nullptr;
    };

    State(std::size_t threads, std::size_t most_bytes)
      : wanted_(threads)
      , most_bytes_(most_bytes) {}

    bool submit(Task task) PLEXUS_EXCLUDES(mutex_);
    void close(Clock::time_point deadline, std::function<void()> idle) PLEXUS_EXCLUDES(mutex_);
    std::vector<const void*> release(Clock::time_point deadline, std::shared_ptr<void> keep)
        PLEXUS_EXCLUDES(mutex_);
    bool stopping() const PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        return tasks_.stopping;
    }
    bool idle() const PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        return tasks_.idle();
    }
    std::vector<std::function<void()>> take_dropped() PLEXUS_EXCLUDES(mutex_);
    std::size_t dropped() const PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        return tasks_.dropped;
    }

  private:
    /// What has been submitted, and what becomes of it.
    struct Tasks {
        std::deque<Task> waiting;
        std::deque<Task> not_begun; ///< dropped, and not taken yet
        std::size_t bytes = 0;      ///< of those that wait or run
        std::size_t running = 0;
        std::size_t dropped = 0;
        bool stopping = false;
        Clock::time_point deadline = Clock::time_point::max();
        std::function<void()> when_idle;

        bool idle() const noexcept { return waiting.empty() && running == 0; }
        bool over() const { return stopping && Clock::now() >= deadline; }
        void drop() {
            dropped += waiting.size();
            if (not_begun.empty()) not_begun.swap(waiting); // a pool that stops takes no more, so once
            waiting.clear();
        }
    };

    struct Worker {
        std::thread thread;
        const void* label = nullptr;
        bool ended = false;
    };

    /// A worker stays where it is.
    struct Workers {
        std::list<Worker> present;
        std::list<Worker> left; ///< left behind
        std::size_t left_behind = 0;
        std::shared_ptr<void> keep; ///< of those left behind; the last one takes it along

        bool all_ended() const {
            return std::all_of(present.begin(), present.end(), [](const Worker& each) { return each.ended; });
        }
    };

    void start_workers() PLEXUS_REQUIRES(mutex_);
    void work(Worker& self) PLEXUS_EXCLUDES(mutex_);
    std::optional<Task> take(Worker& self) PLEXUS_EXCLUDES(mutex_);
    void finish(const Task& task) PLEXUS_EXCLUDES(mutex_);
    void end(Worker& self) PLEXUS_EXCLUDES(mutex_);

    const std::size_t wanted_; // workers
    const std::size_t most_bytes_;
    mutable RankedMutex<52> mutex_; // a leaf: no task runs under it
    ConditionVariable submitted_;
    ConditionVariable ended_;
    Tasks tasks_ PLEXUS_GUARDED_BY(mutex_);
    Workers workers_ PLEXUS_GUARDED_BY(mutex_);
};

bool Pool::State::submit(Task task) {
    {
        Lock hold(mutex_);
        if (tasks_.stopping || (tasks_.bytes > 0 && tasks_.bytes + task.bytes > most_bytes_)) return false;
        start_workers();
        const std::size_t bytes = task.bytes;
        tasks_.waiting.push_back(std::move(task));
        tasks_.bytes += bytes;
    }
    submitted_.notify_one();
    return true;
}

void Pool::State::start_workers() {
    std::list<Worker>& present = workers_.present;
    while (present.size() < wanted_) {
        Worker& worker = present.emplace_back();
        try {
            worker.thread = std::thread([kept = shared_from_this(), &worker] { kept->work(worker); });
        } catch (...) { // no thread, or no memory for one
            present.pop_back();
            if (present.empty()) throw; // fewer would do
            return;
        }
    }
}

void Pool::State::close(Clock::time_point deadline, std::function<void()> idle) {
    {
        Lock hold(mutex_);
        tasks_.stopping = true;
        tasks_.deadline = deadline;
        tasks_.when_idle = std::move(idle);
    }
    submitted_.notify_all();
}

std::vector<const void*> Pool::State::release(Clock::time_point deadline, std::shared_ptr<void> keep) {
    std::list<Worker> ended;
    std::vector<const void*> labels;
    {
        Lock hold(mutex_);
        while (!workers_.all_ended() && ended_.wait_until(mutex_, deadline)) {}
        std::list<Worker>& present = workers_.present;
        for (auto worker = present.begin(); worker != present.end();) {
            const auto next = std::next(worker);
            if (worker->ended) {
                ended.splice(ended.end(), present, worker);
            } else {
                labels.push_back(worker->label);
                worker->thread.detach();
                workers_.left.splice(workers_.left.end(), present, worker);
                ++workers_.left_behind;
            }
            worker = next;
        }
        if (!labels.empty()) workers_.keep = std::move(keep);
    }
    for (Worker& worker : ended) worker.thread.join();
    return labels;
}

void Pool::State::work(Worker& self) {
    while (std::optional<Task> task = take(self)) {
        try {
            task->run();
        } catch (const std::exception& error) { // for instance: no memory to tell of what a handler threw
            log::error("request", "a threaded handler ended without an answer: {}", error.what());
        }
        task->run = nullptr; // what it held ends before the task counts as over
        finish(*task);
    }
    end(self);
}

// Nothing: the worker ends.
std::optional<Pool::State::Task> Pool::State::take(Worker& self) {
    Lock hold(mutex_);
    while (!tasks_.stopping && tasks_.waiting.empty()) submitted_.wait(mutex_);
    if (tasks_.waiting.empty()) return std::nullopt;
    if (tasks_.over()) {
        tasks_.drop();
        return std::nullopt;
    }
    Task task = std::move(tasks_.waiting.front());
    tasks_.waiting.pop_front();
    self.label = task.label;
    ++tasks_.running;
    return task;
}

std::vector<std::function<void()>> Pool::State::take_dropped() {
    std::deque<Task> dropped;
    {
        Lock hold(mutex_);
        if (tasks_.over()) tasks_.drop(); // every thread may be busy
        dropped.swap(tasks_.not_begun);
    }
    std::vector<std::function<void()>> taken;
    taken.reserve(dropped.size());
    for (Task& task : dropped) taken.push_back(std::move(task.run));
    return taken;
}

void Pool::State::finish(const Task& task) {
    Lock hold(mutex_);
    tasks_.bytes -= task.bytes;
    --tasks_.running;
}

void Pool::State::end(Worker& self) {
    std::function<void()> idle;
    {
        Lock hold(mutex_);
        if (tasks_.idle()) idle = tasks_.when_idle;
    }
    if (idle) idle();
    std::shared_ptr<void> keep; // may be the last owner of the pool: ends under no lock
    Lock hold(mutex_);
    self.ended = true;
    ended_.notify_all();
    if (workers_.left_behind > 0 && --workers_.left_behind == 0) keep = std::move(workers_.keep);
}

Pool::Pool(std::size_t threads, std::size_t most_bytes)
  : state_(std::make_shared<State>(threads, most_bytes)) {}

Pool::~Pool() { stop(); }

bool Pool::submit(std::size_t bytes, std::function<void()> task, const void* label) {
    return state_->submit({bytes, std::move(task), label});
}

bool Pool::stopping() const { return state_->stopping(); }
bool Pool::idle() const { return state_->idle(); }
std::vector<std::function<void()>> Pool::take_dropped() { return state_->take_dropped(); }
std::size_t Pool::dropped() const { return state_->dropped(); }

void Pool::close(Clock::time_point deadline, std::function<void()> idle) {
    state_->close(deadline, std::move(idle));
}

std::vector<const void*> Pool::release(Clock::time_point deadline, std::shared_ptr<void> keep) {
    return state_->release(deadline, std::move(keep));
}

std::size_t Pool::stop(Clock::time_point deadline) {
    if (!stopping()) close(deadline);
    release(Clock::time_point::max(), nullptr);
    (void)take_dropped(); // what they hold ends
    return dropped();
}

} // namespace plexus::request
