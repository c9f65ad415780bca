// SPDX-License-Identifier: BSD-3-Clause
// The timers of a context's groups: a thread that hands jobs over when they are due. It runs no job itself
// and sends nothing to other members, so nothing can hold up the jobs of other groups.
#pragma once

#include "base/mutex.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <thread>

namespace plexus::eco::detail {

class Monitor {
  public:
    using Job = std::function<void()>;

    /// `hand_over` takes each job that is due, on the monitor's thread. It must not wait for long.
    explicit Monitor(std::function<void(Job)> hand_over);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    /// No job is handed over any more. Waits for one that just is, except on the monitor's own thread.
    /// @thread any
    void stop();

    /// Hands `job` over after this time. Jobs that are not due when the monitor ends are dropped. @thread any
    void after(std::chrono::steady_clock::duration time, Job job);

  private:
    /// Shared with the thread, which may outlive the monitor if the last group ends on it.
    struct State {
        const std::function<void(Job)> hand_over;
        RankedMutex<10> mutex;
        std::condition_variable_any changed;
        std::multimap<std::chrono::steady_clock::time_point, Job> timers PLEXUS_GUARDED_BY(mutex);
        bool stops PLEXUS_GUARDED_BY(mutex) = false;
        bool hands_over PLEXUS_GUARDED_BY(mutex) = false;
    };
    static void loop(State& state);

    const std::shared_ptr<State> state_;
    std::thread thread_;
};

} // namespace plexus::eco::detail
