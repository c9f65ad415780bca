// SPDX-License-Identifier: BSD-3-Clause
// Work that a station's main thread does for its pool threads, one piece at a time: the main thread is the
// one that polls, so it is the one that measures. Pool threads may wait; the main thread looks whether there
// is something to do.
#pragma once

#include "plexus/error.h"
#include "runtime/base/lock.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <string>

namespace plexus::tools::probe {

class Errands {
  public:
    using Work = std::function<void()>;

    /// `wake` makes the main thread look. @thread any
    explicit Errands(Work wake)
      : wake_(std::move(wake)) {}

    /// Waits until earlier work is finished, and hands this over. `is_void`: it is not wanted any more, which
    /// is asked when its turn comes, and by look().
    /// @error timed_out it is not wanted any more; closed close() was called (thrown)  @thread pool
    void begin(Work work, const std::function<bool()>& is_void) PLEXUS_EXCLUDES(mutex_);
    /// Waits for the end of what begin() handed over; called once for each, by whatever thread.
    /// @error bad_argument nothing was begun; closed close() came before it was done; what the work threw,
    /// or too_large for want of memory (thrown)
    /// @thread pool
    void finish() PLEXUS_EXCLUDES(mutex_);
    /// Who waits in begin() asks again whether the work is wanted. @thread any
    void look() PLEXUS_EXCLUDES(mutex_);

    /// @thread main
    bool has_work() const noexcept { return has_work_.load(std::memory_order_relaxed); }
    /// Does it, if there is any. @thread main
    void do_work() PLEXUS_EXCLUDES(mutex_);
    /// The main thread does no more: nobody waits for it any longer. @thread main
    void close() PLEXUS_EXCLUDES(mutex_);

  private:
    /// How a piece of work ended.
    struct Outcome {
        Status status = Status::ok;
        std::string why;
    };

    const Work wake_;
    Mutex mutex_;
    std::condition_variable_any changed_;
    Work work_ PLEXUS_GUARDED_BY(mutex_);
    bool is_taken_ PLEXUS_GUARDED_BY(mutex_) = false; // from begin() to finish()
    bool is_done_ PLEXUS_GUARDED_BY(mutex_) = false;
    bool is_closed_ PLEXUS_GUARDED_BY(mutex_) = false;
    Outcome outcome_ PLEXUS_GUARDED_BY(mutex_);
    std::atomic<bool> has_work_{false}; // a hint for the main thread: work_ is under mutex_
};

} // namespace plexus::tools::probe
