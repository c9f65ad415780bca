// SPDX-License-Identifier: BSD-3-Clause
// A thread that looks after groups in which calls wait and no thread does, and does for handlers
// what they must not wait for. It sleeps while there is nothing, and never keeps a group alive
// while it sleeps.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace plexus::eco::detail {

class GroupState;

class Monitor {
  public:
    Monitor();
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    /// @thread any
    void add(const std::shared_ptr<GroupState>& group, std::chrono::milliseconds every);
    /// Runs it once, behind those before. It may block. @thread any
    void run(std::function<void()> job);

  private:
    struct Watched {
        std::weak_ptr<GroupState> group;
        std::chrono::milliseconds every;
        std::chrono::steady_clock::time_point due;
    };
    /// The thread's own share: it may outlive the watch, when the last group ends on it.
    struct State {
        std::mutex mutex;
        std::condition_variable news;
        std::vector<Watched> groups;
        std::deque<std::function<void()>> jobs;
        bool stops = false;
    };
    static void loop(const std::shared_ptr<State>& state);

    std::shared_ptr<State> state_;
    std::thread thread_;
};

} // namespace plexus::eco::detail
