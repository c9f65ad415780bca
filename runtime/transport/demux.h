// SPDX-License-Identifier: BSD-3-Clause
// What arrives on links: control frames are carried out here, all others go to the room that
// registered for their kind. @thread progress
#pragma once

#include "transport/failover.h"

#include <array>
#include <memory>
#include <string>

namespace plexus::transport {

/// What to do with frames of one kind.
struct Sink {
    /// `owned`: the memory of `frame`, to keep; null: valid until return.
    void (*take)(void* self, Link& from, wire::View frame, Buffer* owned) = nullptr;
    /// Optional: says where a large frame's rest belongs. False: in a buffer, then take().
    bool (*place)(void* self, Link& from, wire::View head, std::size_t rest, Placement& placement,
                  void** where) = nullptr;
    void* self = nullptr;
    /// Optional: a frame was not taken. Whoever waits for what it asks for is to hear why.
    /// False: `head` doesn't say whom.
    bool (*refuse)(void* self, Link& from, wire::View head, Status status, const std::string& why) = nullptr;
};

/// What to do with a request that came by a method that loses messages. False: it was dropped.
struct DatagramSink {
    bool (*take)(void* self, Peer& from, const Interface& by, wire::View frame) = nullptr;
    void* self = nullptr;
};

class Demux {
  public:
    Demux(Endpoint& endpoint, Acknowledger& acks, Failover& failover)
      : endpoint_(endpoint)
      , acks_(acks)
      , failover_(failover) {}

    /// @thread setup
    void on(wire::Kind kind, Sink sink) { sinks_[static_cast<std::size_t>(kind)] = sink; }
    void on_datagram(DatagramSink sink) { datagram_sink_ = sink; }
    bool deliver_datagram(Peer& from, const Interface& by, wire::View frame) {
        return datagram_sink_.take != nullptr && datagram_sink_.take(datagram_sink_.self, from, by, frame);
    }

    // As the functions of plexus_host say.
    void deliver(Link& link, wire::View frame, Buffer* owned);
    /// A part of a message that is not whole yet has come.
    void arriving(Link& link);
    int32_t place(Link& link, wire::View head, std::size_t rest, void** where, void** token);
    void placed(Link& link, Placement* placement, Status status);

    /// A peer says how it is called. False: the module of this link or of another one of the peer's does not
    /// believe it, and this link ends.
    bool learn_name(Link& link, std::string_view name);
    /// A context's table came on a link: pointers that come on it may name the table.
    void learn_table(Link& link, const ContextId& owner, DescriptorTable table);

  private:
    void deliver_aligned(Link& link, Placement& placement);
    void take_control(Link& link, wire::View frame);
    void take_hello(Link& link, wire::View frame);
    bool believes(Link& link, plexus_claim what, const std::string& said);
    void disbelieve(Link& link, const std::string& why);
    void take_replay_request(Link& link, std::uint32_t stream);
    void refuse(Link& link, wire::View head, std::size_t bytes, bool memory);
    void break_rules(Link& link, const char* how);
    void take_dropped(Link& link, wire::View frame);
    void answers_dropped(Link& link, std::uint64_t count);
    void reports_dropped(Link& link, std::uint64_t count);

    Endpoint& endpoint_;
    Acknowledger& acks_;
    Failover& failover_;
    std::array<Sink, wire::kKinds> sinks_{};
    DatagramSink datagram_sink_;
};

} // namespace plexus::transport
