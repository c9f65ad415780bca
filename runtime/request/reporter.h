// SPDX-License-Identifier: BSD-3-Clause
// What the program hears that no caller waits for: errors, peers that are lost or come back. Calls
// the program's handlers without a lock; if one throws, or there is none, the log has it.
#pragma once

#include "base/mutex.h"
#include "plexus/context.h"

#include <chrono>
#include <functional>
#include <string>

namespace plexus::request {

class Reporter {
  public:
    using Clock = std::chrono::steady_clock;

    // @thread any
    void on_error(Context::ErrorHandler handler) PLEXUS_EXCLUDES(mutex_);
    void on_peer(Context::PeerHandler handler) PLEXUS_EXCLUDES(mutex_);

    void report_error(Status status, const std::string& what) noexcept PLEXUS_EXCLUDES(mutex_);
    void peer_event(const PeerEvent& event) noexcept PLEXUS_EXCLUDES(mutex_);
    /// A one-way request was refused here: a warning in the log, one a second at most.
    void refused(const std::string& what) noexcept PLEXUS_EXCLUDES(mutex_);

  private:
    /// False: the program has no error handler.
    bool tell(const Error& error) noexcept PLEXUS_EXCLUDES(mutex_);

    RankedMutex<21> mutex_;
    Context::ErrorHandler on_error_ PLEXUS_GUARDED_BY(mutex_);
    Context::PeerHandler on_peer_ PLEXUS_GUARDED_BY(mutex_);
    Clock::time_point next_line_ PLEXUS_GUARDED_BY(mutex_){};
    std::uint64_t unsaid_ PLEXUS_GUARDED_BY(mutex_) = 0; ///< refusals since the last line
};

} // namespace plexus::request
