// SPDX-License-Identifier: BSD-3-Clause
// The threads that threaded handlers run on. Started with the first task; bounded in bytes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace plexus::request {

class Pool {
  public:
    Pool(std::size_t threads, std::size_t most_bytes)
      : wanted_(threads)
      , most_bytes_(most_bytes) {}
    ~Pool() { stop(); }
    using Clock = std::chrono::steady_clock;

    /// False: tasks with more than `most_bytes` wait already, or the pool has stopped.
    bool submit(std::size_t bytes, std::function<void()> task);
    bool stopping();
    /// Runs what was submitted, then ends the threads. What has not begun by the deadline is
    /// dropped; gives how many tasks that were.
    std::size_t stop(Clock::time_point deadline = Clock::time_point::max());

  private:
    struct Task {
        std::size_t bytes;
        std::function<void()> run;
    };
    void loop();

    const std::size_t wanted_;
    const std::size_t most_bytes_;
    std::mutex mutex_; // a leaf: no task runs under it
    std::condition_variable work_;
    std::deque<Task> tasks_;
    std::size_t bytes_ = 0;
    bool stopping_ = false;
    Clock::time_point deadline_ = Clock::time_point::max();
    std::size_t dropped_ = 0;
    std::vector<std::thread> threads_;
};

} // namespace plexus::request
