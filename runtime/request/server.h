// SPDX-License-Identifier: BSD-3-Clause
// Requests of other contexts to this one: finds object and handler of one that arrives by index, and has the
// handler run; those that must wait for room keep their order. Progress thread, except where a line says
// otherwise.
#pragma once

#include "request/executor.h"
#include "request/handler_table.h"
#include "request/objects.h"
#include "request/parked_requests.h"
#include "request/peer_requests.h"
#include "request/reporter.h"
#include "transport/transport.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace plexus::request {

class Server {
  public:
    using Clock = std::chrono::steady_clock;

    /// `queue`: bytes of requests that wait for a thread, and for each peer of those that wait for room.
    /// `name`: of this context, for messages; must outlive this.
    Server(std::size_t threads, std::size_t queue, const std::string& name, Reporter& reporter);

    /// Registers the kinds that it understands. @thread setup
    void serve(transport::Transport& transport);

    // @thread any
    HandlerTable& handlers() noexcept { return handlers_; }
    Objects& objects() noexcept { return objects_; }
    /// Requests that wait for room.
    std::size_t parked() const noexcept { return parked_.count(); }

    /// Begins parked requests whose answers find room now; how long until it wants to be asked again. At the
    /// end refuses them, and those that wait for a thread.
    std::chrono::nanoseconds begin_parked();
    /// The modules have ended: no answer leaves any more.
    void drop_parked() noexcept { parked_.clear(); }

    // The end, in this order. @thread setup
    /// Lets threaded handlers finish what was accepted, and makes progress meanwhile. At the deadline
    /// every wait in a handler ends with `closed`, and what has not begun is refused.
    void finish_handlers(poll::Scheduler& scheduler, Clock::time_point deadline);
    /// Ends the handlers' threads. A handler that has not returned by the deadline goes on by itself and
    /// holds `keep`; the log names its request.
    void release_handlers(Clock::time_point deadline, std::shared_ptr<void> keep);

  private:
    void take_request(transport::Link& from, wire::View frame, Buffer* owned);
    /// Of what came by a method that loses messages. False: dropped.
    bool take_datagram(const transport::Peer& from, const transport::Interface& by, wire::View frame);
    void take_declare(transport::Link& from, wire::View frame);
    void take_table(transport::Link& from, wire::View frame);
    void take_cancel(transport::Link& from, wire::View frame);

    void park(transport::Channel& from, PeerRequests& requests, const wire::RequestHeader& header,
              wire::View frame, Buffer* owned);
    void begin(ParkedRequests::Request& request);
    void refuse_not_begun();
    void handle(transport::Channel& from, PeerRequests& requests, const wire::RequestHeader& header,
                wire::View frame, Buffer* owned);

    const std::string& name_;
    Reporter& reporter_;
    transport::Endpoint* endpoint_ = nullptr; ///< set by serve()
    HandlerTable handlers_;
    Objects objects_;
    ParkedRequests parked_;
    enum class End : std::uint8_t { none, refuses, refused };
    // [end] Who reads `refuses` sees what finish_handlers() has left to refuse; who reads `refused`, that
    // nothing of it is left. Stored with release, read with acquire by the other thread.
    std::atomic<End> end_{End::none};
    std::atomic<std::uint32_t> refusing_turns_{0}; ///< turns that refused some at the end; a count
    Executor executor_;                            // ends first: its threads use the others
};

} // namespace plexus::request
