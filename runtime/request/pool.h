// SPDX-License-Identifier: BSD-3-Clause
// The threads that threaded handlers run on. Started with the first task; bounded in bytes.
// Ends in bounded time: a task that does not return is left behind with its thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace plexus::request {

class Pool {
  public:
    using Clock = std::chrono::steady_clock;

    Pool(std::size_t threads, std::size_t most_bytes);
    /// Waits for every thread that release() has not given up.
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// False: tasks with more than `most_bytes` wait already, or the pool has stopped. `label`: what
    /// release() calls this task. @error std::system_error (thrown) no thread could be started. @thread any
    bool submit(std::size_t bytes, std::function<void()> task, const void* label = nullptr);
    /// @thread any
    bool stopping() const;

    // The end, in this order. @thread setup
    /// Refuses new tasks. What was submitted is still run; what has not begun by the deadline is dropped.
    /// `idle`: called on a thread of the pool when no task is left; it may be called more than once.
    void close(Clock::time_point deadline, std::function<void()> idle = nullptr);
    /// True if no task runs or waits. @thread any
    bool idle() const;
    /// Ends the threads. Those whose task has not returned by the deadline go on by themselves, and hold
    /// `keep` until their tasks have: it must keep whatever they touch. Gives the labels of those tasks.
    std::vector<const void*> release(Clock::time_point deadline, std::shared_ptr<void> keep);
    /// The tasks that were dropped, for whoever tells their senders. Gives each once. @thread any
    std::vector<std::function<void()>> take_dropped();
    /// How many tasks were dropped. @thread any
    std::size_t dropped() const;

    /// close() and then waiting for every thread; gives dropped().
    std::size_t stop(Clock::time_point deadline = Clock::time_point::max());

  private:
    class State;
    const std::shared_ptr<State> state_; ///< a thread that was left behind outlives the pool
};

} // namespace plexus::request
