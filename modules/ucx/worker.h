// SPDX-License-Identifier: BSD-3-Clause
// UCX's worker as a port of the engine: active messages and their rendezvous, and the turn in which UCX makes
// progress. UCX's callbacks run under the port's lock and therefore only take notes (operations.h,
// endpoints.h, inbox.h), which poll() tells.
#pragma once

#include "common/surroundings.h"
#include "ucx/endpoints.h"
#include "ucx/inbox.h"
#include "ucx/library.h"
#include "ucx/liveness_socket.h"
#include "ucx/memory.h"
#include "ucx/trace.h"

namespace plexus::ucx {

using message_link::Event;
using message_link::Outcome;

class Worker final : public message_link::Port, public message_link::Carrying {
  public:
    Worker(const plexus_host& host, const Options& options);
    ~Worker() override;
    /// PLEXUS_OK, or a status and *why. @thread setup
    std::int32_t open(std::string& why);

    const Descriptor& self() const noexcept { return self_; }
    RemoteKeys& keys() noexcept { return keys_; } ///< @thread any

    const Traits& traits() const noexcept override { return traits_; }
    std::string name() const override { return "UCX"; }
    message_link::Bytes descriptor() const override { return descriptor_; }
    Speed speed(const message_link::Peer* peer) const override;
    message_link::Carrying* carrying() noexcept override { return this; }
    message_link::RemoteMemory* remote_memory() noexcept override { return &keys_; }

    Outcome send(message_link::Peer& peer, const message_link::Header& header, const plexus_view* pieces,
                 std::uint32_t count, std::size_t size, std::string& why) override PLEXUS_REQUIRES(lock);
    bool has_room(const message_link::Peer& peer, bool retry) const override PLEXUS_REQUIRES(lock);
    bool is_sending(const message_link::Peer& peer) const override PLEXUS_REQUIRES(lock);
    std::uint64_t queued_bytes(const message_link::Peer& peer) const override PLEXUS_REQUIRES(lock);
    Outcome carry(message_link::Peer& peer, const message_link::Header& header, const plexus_view* pieces,
                  std::uint32_t count, std::uint64_t rest, void* token, std::string& why) override;
    Outcome receive(message_link::Peer& peer, message_link::Message& message, void* where,
                    void* token) override;

    std::unique_ptr<message_link::Peer> reach(message_link::ByteView descriptor, message_link::Link& link,
                                              std::int32_t& status, std::string& why) override;
    std::size_t poll(Event* out, std::size_t most) override;
    void recycle(message_link::Message& message) override { inbox_.release(static_cast<Arrival&>(message)); }
    void look_around() override { endpoints_.look_for_hang_ups(); }
    bool arm(std::uint64_t& sleep_ns, bool stalled) override;
    int wait_fd() const noexcept override { return endpoints_.wait_fd(); }
    void stop_writes(message_link::Peer& peer, const std::atomic<std::uint32_t>& writes) override;
    void cut(message_link::Peer& peer) override;
    void shut() override;
    Closed closed() override { return {"this context is closing", false}; }

  private:
    Outcome submit(Op& op, const void* data, std::size_t count, ucp_datatype_t type, std::size_t header_size,
                   std::uint32_t flags, std::string& why);

    const plexus_host& host_;
    const Options options_;
    TraceUse trace_use_;
    Library library_;
    LivenessSocket liveness_socket_;
    Descriptor self_;
    message_link::Bytes descriptor_;
    Traits traits_;

    // Under the lock.
    Operations operations_;
    Inbox inbox_;
    Endpoints endpoints_;
    RemoteKeys keys_;
};

} // namespace plexus::ucx
