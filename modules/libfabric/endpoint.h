// SPDX-License-Identifier: BSD-3-Clause
// One provider's endpoint as a port of the engine: sends, receives and fetches, completions,
// addresses of peers. The provider is told that one lock stands around every call
// (FI_THREAD_DOMAIN): it takes none of its own.
#pragma once

#include "libfabric/contacts.h"
#include "libfabric/handles.h"
#include "libfabric/page.h"

#include <deque>

namespace plexus::libfabric {

using message_link::Event;
using message_link::Header;
using message_link::kHeaderBytes;
using message_link::Outcome;
using message_link::Registration;

class Endpoint;

/// The far end of a link over an endpoint.
class FabricPeer final : public message_link::Peer {
  public:
    FabricPeer(message_link::Link& its_link, Endpoint& endpoint, Address its_address,
               const PageAddress& page_address);
    ~FabricPeer() override;

    bool is_seen() const override { return page.is_open(); }
    bool has_ended() const override { return page.process_ended(); }
    std::uint32_t revision(std::uint32_t slot) const override { return page.revision(slot); }

    PeerPage page;
    Contact* contact = nullptr; ///< null: its address is not in the table
    std::size_t sending = 0;    ///< under the endpoint's lock

  private:
    Endpoint& endpoint_;
    const Address address_;
    const PageAddress page_address_;
};

class Endpoint final : public message_link::Port, public message_link::Fetching {
  public:
    /// `self`: this context, without an address. `page`: its own.
    Endpoint(const plexus_host& host, Info info, const Options& options, Descriptor self,
             std::shared_ptr<Page> page);
    ~Endpoint() override;
    /// The sentence that says why the provider refuses; empty: it does not. @thread setup
    std::string open();

    const Address& address() const noexcept { return self_.address; }
    void forget(FabricPeer& peer);

    const Traits& traits() const noexcept override { return traits_; }
    std::string name() const override { return address().provider; }
    Bytes descriptor() const override { return self_.encode(); }
    Speed speed(const message_link::Peer* peer) const override;
    message_link::Fetching* fetching() noexcept override { return fetches_ ? this : nullptr; }

    Outcome send(message_link::Peer& peer, const Header& header, const plexus_view* pieces,
                 std::uint32_t count, std::size_t size, std::string& why) override
        PLEXUS_MODULE_REQUIRES(lock);
    bool is_sending(const message_link::Peer& peer) const override PLEXUS_MODULE_REQUIRES(lock);

    std::unique_ptr<message_link::Peer> reach(ByteView descriptor, message_link::Link& link,
                                              std::int32_t& status, std::string& why) override;
    std::size_t poll(Event* out, std::size_t most) override;
    void recycle(message_link::Message& message) override;
    void look_around() override;
    bool arm(std::uint64_t& sleep_ns, bool stalled) override;
    int wait_fd() const noexcept override { return epoll_.get(); }
    void stop_writes(message_link::Peer& peer, const std::atomic<std::uint32_t>& writes) override;
    void cut(message_link::Peer&) override { shut(); }
    void shut() override;
    Closed closed() override;

    bool may_offer(const message_link::Peer& peer) const override;
    bool offer(const plexus_view& memory, Registration& out, message_link::Stretch& stretch) override;
    std::uint32_t revision(std::uint32_t slot) const override { return page_->revision(slot); }
    void revise(std::uint32_t slot) override { page_->revise(slot); }
    Outcome prepare(void* memory, std::size_t size, Registration& out, void*& handle,
                    std::string& why) override;
    std::size_t most_bytes() const override { return most_fetch_; }
    Outcome fetch(message_link::Peer& peer, std::byte* where, std::size_t size, void* handle,
                  const message_link::Stretch& from, std::string& why) override;

  private:
    /// What is under way, under the lock.
    struct Counts {
        std::size_t posted = 0;  // receive buffers
        std::size_t reading = 0; // fetches
        std::size_t sending = 0;
    };

    void post_all() PLEXUS_MODULE_REQUIRES(lock);
    std::size_t read_queue(Event* out, std::size_t most) PLEXUS_MODULE_REQUIRES(lock);
    bool read_error(Event& out) PLEXUS_MODULE_REQUIRES(lock);
    bool tell(Op* op, std::size_t size, std::string error, Event& out) PLEXUS_MODULE_REQUIRES(lock);
    bool keep_events() PLEXUS_MODULE_REQUIRES(lock);
    std::size_t fetches_over(const FabricPeer& peer);
    /// The library answered with an error that is no passing one.
    void fail(const char* when, long error) PLEXUS_MODULE_REQUIRES(lock);
    void end_for(std::string why, bool failed) PLEXUS_MODULE_REQUIRES(lock);
    fid_av* table() PLEXUS_MODULE_REQUIRES(lock) { return handles_.addresses(); }
    bool is_reachable(const Address& there) const;

    const plexus_host& host_;
    const Info info_;
    const Options options_;
    Descriptor self_;
    const std::shared_ptr<Page> page_;
    Traits traits_;
    std::size_t most_fetch_ = 0;
    bool fetches_ = false;
    bool slept_ = false; // the progress thread's
    module::OwnedFd epoll_;

    // Under the lock.
    Handles handles_;
    MemoryRules rules_;
    std::unique_ptr<Buffers> incoming_;
    std::unique_ptr<Buffers> outgoing_;
    Contacts contacts_;
    std::deque<Op> reads_; // never shrinks: the provider may hold on to them
    std::vector<Op*> free_reads_;
    std::vector<Buffer*> spoilt_;  // brought no message; post_all() takes them over
    std::vector<Event> kept_;      // of completions that were read, not yet told by poll()
    std::vector<std::byte> block_; // where small messages are put together
    Counts counts_;
    Closed closed_;

    // The progress thread's: buffers on their way back.
    std::vector<Buffer*> to_post_;
};

} // namespace plexus::libfabric
