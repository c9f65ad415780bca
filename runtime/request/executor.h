// SPDX-License-Identifier: BSD-3-Clause
// Runs handlers whose object is known, at once or on a thread of its pool, and gives the answer of each: what
// it returned, or why there is no result.
#pragma once

#include "plexus/handler.h"
#include "request/objects.h"
#include "request/pool.h"
#include "request/reporter.h"
#include "transport/transport.h"
#include "wire/frame.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace plexus::request {

/// Why a request that had not begun when its context closed is refused.
inline constexpr const char* kNotBegun = "its context closed before its handler began";

class Executor {
  public:
    using Clock = Pool::Clock;

    /// `most_bytes`: memory of requests that wait for a thread or have one, their records included.
    Executor(std::size_t threads, std::size_t most_bytes, Reporter& reporter);

    // `frame` is the whole request; `owned`: its memory, to keep; null: valid until return.
    /// Runs a handler on this thread. Gives the bytes of the answer, if it was given at once. The slot is
    /// entered or pinned. @thread any
    std::size_t run(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
                    const wire::RequestHeader& header, wire::View frame, Buffer* owned);
    /// The same on a thread of the pool, later. A request that finds no room there is refused. The slot is
    /// entered. @thread progress
    void submit(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
                const wire::RequestHeader& header, wire::View frame, Buffer* owned);

    // The end, in this order. @thread setup
    /// Refuses new requests, lets those that wait for a thread finish, and makes progress meanwhile. At the
    /// deadline every wait in a handler ends with `closed`. Gives how many have not begun.
    std::size_t finish(poll::Scheduler& scheduler, Clock::time_point deadline);
    /// Refuses at most `most` of those with `closed`; how many. @thread progress
    std::size_t refuse_not_begun(std::size_t most);
    /// Ends the threads. A handler that has not returned by the deadline goes on by itself and holds `keep`.
    /// Gives those handlers.
    std::vector<const void*> release(Clock::time_point deadline, std::shared_ptr<void> keep);

  private:
    Reporter& reporter_;
    std::deque<std::function<void()>> not_begun_; ///< filled by finish()
    std::atomic<bool> finished_{false};           ///< no handler begins any more; alone is the message
    Pool pool_;                                   // ends first: its threads use the others
};

/// Keeps the bytes of the request whose handler runs on this thread. Null if they are not in memory of their
/// own, as those of small ones are not, or were kept before. @thread that of the handler
std::shared_ptr<const void> keep_running_request();

} // namespace plexus::request
