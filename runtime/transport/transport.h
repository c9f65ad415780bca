// SPDX-License-Identifier: BSD-3-Clause
// The transport of one context: endpoint, failover and demultiplexer wired together, opened and
// closed. No decisions of its own.
#pragma once

#include "transport/demux.h"

#include <chrono>

namespace plexus::transport {

class Transport {
  public:
    Transport(const ContextId& self, EndpointOptions options, poll::Scheduler& scheduler, Listener& listener);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    /// Opens a module. Lanes come in this order. At the start, or beside all that goes on; `settings` stay
    /// until the end. @error what the module says; too_large there are kMostMethods. @thread one
    Result<const Interface*> open(const loader::Module& module, const config::Settings& settings,
                                  const loader::Modules& modules);
    // @thread setup
    /// Refuses new work, sends what was accepted (until `deadline`), says goodbye.
    void close(std::chrono::steady_clock::time_point deadline);
    /// After the scheduler has stopped: ends every link and module.
    void destroy();

    Endpoint& endpoint() noexcept { return endpoint_; }
    Demux& demux() noexcept { return demux_; }

  private:
    std::chrono::nanoseconds run();

    poll::Scheduler& scheduler_;
    Endpoint endpoint_;
    Acknowledger acks_;
    Failover failover_;
    Demux demux_;
    // [goodbye] set by close(), cleared by the leader when the goodbyes that are due are on their way.
    std::atomic<bool> goodbye_wanted_{false};
    // The leader's until [goodbye] is cleared, then close()'s.
    bool at_once_ = false; ///< no time is left for one goodbye after the other
    bool all_told_ = false;
};

} // namespace plexus::transport
