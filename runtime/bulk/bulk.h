// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory: put and get on bound spans. Large transfers land in place, by whatever way
// the method has; nothing of the owner's program runs.
#pragma once

#include "request/dispatcher.h"

namespace plexus::bulk {

/// Answers for one context's bound memory. @thread progress
class Bulk {
  public:
    explicit Bulk(request::Dispatcher& dispatcher)
      : dispatcher_(dispatcher) {}

    /// Registers the kinds that it understands. @thread setup
    void serve(comm::Exchange& exchange);

  private:
    using Slot = request::Objects::Slot;

    Slot* enter(comm::Connection& from, const wire::BulkHeader& header);
    void take_put(comm::Connection& from, wire::View frame);
    void take_get(comm::Connection& from, wire::View frame);
    void take_data(comm::Connection& from, wire::View frame);
    bool place_put(comm::Connection& from, wire::View head, std::size_t rest, comm::Placement& placement,
                   void** where);
    bool place_data(comm::Connection& from, wire::View head, std::size_t rest, comm::Placement& placement,
                    void** where);
    void answer(comm::Object& to, std::uint32_t call, Status status, std::string_view why);

    request::Dispatcher& dispatcher_;
};

} // namespace plexus::bulk
