// SPDX-License-Identifier: BSD-3-Clause
// One provider's endpoint as a port of the engine. Its parts know one thing each: the library's objects
// (Handles), addresses of peers (Contacts), messages in (Receives) and out (Sends), large messages (Fetches),
// sleep (WaitSet). The endpoint reads completions, hands each to its part, and ends everything when the
// library fails. The provider is told that one lock stands around every call (FI_THREAD_DOMAIN): it takes
// none of its own.
#pragma once

#include "libfabric/contacts.h"
#include "libfabric/fetches.h"
#include "libfabric/handles.h"
#include "libfabric/options.h"
#include "libfabric/peer.h"
#include "libfabric/pending_events.h"
#include "libfabric/receives.h"
#include "libfabric/sends.h"
#include "libfabric/wait_set.h"

namespace plexus::libfabric {

class Endpoint final : public message_link::Port {
  public:
    /// `self`: this context, without an address. `page`: its own.
    Endpoint(const plexus_host& host, Info info, Descriptor self, std::shared_ptr<Page> page);
    ~Endpoint() override;
    /// The sentence that says why the provider refuses; empty: it does not. @thread setup
    std::string open(const Options& options);

    const Address& address() const noexcept { return self_.address; }
    /// The peer is about to be freed. @thread progress
    void forget(FabricPeer& peer);

    const Traits& traits() const noexcept override { return traits_; }
    std::string name() const override { return address().provider; }
    Bytes descriptor() const override { return self_.encode(); }
    Speed speed(const message_link::Peer* peer) const override;
    message_link::Fetching* fetching() noexcept override { return may_fetch_ ? &fetches_ : nullptr; }

    message_link::Outcome send(message_link::Peer& peer, const message_link::Header& header,
                               const plexus_view* pieces, std::uint32_t count, std::size_t size,
                               std::string& why) override PLEXUS_REQUIRES(lock);
    bool is_sending(const message_link::Peer& peer) const override PLEXUS_REQUIRES(lock);

    std::unique_ptr<message_link::Peer> reach(ByteView descriptor, message_link::Link& link,
                                              std::int32_t& status, std::string& why) override;
    std::size_t poll(message_link::Event* out, std::size_t most) override;
    void recycle(message_link::Message& message) override;
    void look_around() override;
    bool arm(std::uint64_t& sleep_ns, bool stalled) override;
    int wait_fd() const noexcept override { return wait_set_.fd(); }
    void stop_writes(message_link::Peer& peer, const std::atomic<std::uint32_t>& writes) override;
    void cut(message_link::Peer&) override { shut(); }
    void shut() override;
    Closed closed() override;

  private:
    void post_receives() PLEXUS_REQUIRES(lock);
    /// Completions that the provider has, as events; how many events.
    std::size_t read_queue(message_link::Event* out, std::size_t most) PLEXUS_REQUIRES(lock);
    bool read_error(message_link::Event& out) PLEXUS_REQUIRES(lock);
    /// What a completion means. False: nothing that the engine has to know.
    bool tell(Op* op, std::size_t size, std::string error, message_link::Event& out) PLEXUS_REQUIRES(lock);
    /// Reads completions into pending_. False: there were none.
    bool keep_events() PLEXUS_REQUIRES(lock);
    /// How many fetches over this peer have ended that the engine has yet to be told of.
    std::size_t fetches_over(const message_link::Peer& peer);
    /// The library answered with an error that is no passing one.
    void fail(const char* when, long error) PLEXUS_REQUIRES(lock);
    void end_for(std::string why, bool failed) PLEXUS_REQUIRES(lock);

    const plexus_host& host_;
    // Fixed by open().
    Descriptor self_;
    Traits traits_;
    bool may_fetch_ = false;

    WaitSet wait_set_;
    // Ends after all that is registered with it.
    Handles handles_ PLEXUS_GUARDED_BY(lock);
    Contacts contacts_ PLEXUS_GUARDED_BY(lock);
    Receives receives_; // under the lock, except for recycle()
    Sends sends_ PLEXUS_GUARDED_BY(lock);
    Fetches fetches_ PLEXUS_GUARDED_BY(lock);
    PendingEvents pending_ PLEXUS_GUARDED_BY(lock);
    Closed closed_ PLEXUS_GUARDED_BY(lock);
};

} // namespace plexus::libfabric
