// SPDX-License-Identifier: BSD-3-Clause
// The libfabric method of one context: an endpoint for each provider that is used, its links,
// and the turn that polls them. Everything is @thread progress unless it says otherwise;
// other threads leave notes.
#pragma once

#include "common/surroundings.h"
#include "libfabric/link.h"
#include "libfabric/options.h"

#include <memory>
#include <string>
#include <vector>

namespace plexus::libfabric {

extern const plexus_ops kOps;

class Module {
  public:
    Module(const plexus_host& host, Options options);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // @thread setup
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    std::int32_t open(); ///< logs why not
    void close();
    void drain();
    std::int32_t describe(plexus_text& out) const;
    std::int32_t describe_row(std::uint32_t row, plexus_text& label, plexus_text& out) const;

    // @thread any
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::uint32_t row_of(const Port& port) const noexcept;
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;
    int wait_fd() const noexcept { return epoll_.get(); }

    // @thread progress
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);

    // What links ask for.
    const plexus_host& host() const noexcept { return host_; }
    const Options& options() const noexcept { return options_; }
    Page& page() noexcept { return page_; }
    bool closing() const noexcept { return closing_.load(std::memory_order_relaxed); }
    Clock::time_point now() const noexcept { return now_; }
    /// Looked at in each turn until there is room, or what waits has gone, or it is lost.
    /// @thread any, under a port's lock
    void note_wish(Link& link);
    void note_carrying(Link& link);
    void note_broken(Link& link);
    /// The host does not want it any more. @thread any
    void give_up(Link& link);
    /// It begins to fail, or to leave: looked after until it is over.
    void begin_ending(Link& link);
    void uncount() noexcept { link_count_.fetch_sub(1, std::memory_order_relaxed); }
    void uncount_stranger() noexcept { --strangers_; }
    /// Nothing but the ends of what was sent is called back.
    bool draining() const noexcept { return draining_; }

  private:
    static constexpr std::size_t kMostStrangers = 256;
    struct Note {
        enum class What : std::uint8_t { connect, give_up, wish, carry, broken };
        What what;
        Link* link;
    };
    // What an event of the epoll set is about.
    static constexpr std::uint64_t kRing = 0;
    static constexpr std::uint64_t kQueue = 1;
    static constexpr std::uint64_t kPeer = std::uint64_t{1} << 32; // + Link::slot

    void note(Note::What what, Link& link);
    void wake_up() PLEXUS_MODULE_REQUIRES(notes_mutex_);
    std::uint32_t take_notes();
    std::uint32_t carry();
    std::uint32_t grant_wishes();
    std::uint32_t see_to_endings();
    std::uint32_t take(Port& port, Port::Completion& news);
    void receive(Port& port, Buffer& buffer);
    std::uint32_t tell_end(Port& port);
    std::uint32_t look_around();
    std::uint32_t check_times();
    void hear_events();

    // opening.cpp
    bool give_slot(Link& link);
    Descriptor descriptor_of(const Port& port) const;
    void begin(Link& link);
    void take_hello(Port& port, ByteView body);
    void take_answer(Link& link, ByteView body);
    void take_confirm(Link& link, ByteView body);
    bool know_peer(Link& link);
    void watch_peer(Link& link);

    // ending.cpp
    void leave(Link& link);
    bool try_to_end(Link& link);
    void report_lost(Link& link);
    void free(Link& link);
    bool under_way() const;

    const plexus_host& host_;
    const Options options_;
    Descriptor self_;                // without an address
    std::vector<Address> addresses_; // of the ports, in their order
    Page page_;
    std::vector<std::unique_ptr<Port>> ports_;
    std::atomic<bool> closing_{false}; // set once; a send that misses it is still carried
    bool drained_ = false;
    bool draining_ = false;

    module::OwnedFd epoll_;
    bool slept_ = false;
    std::uint32_t until_look_ = 1;
    Clock::time_point now_{};

    // [noted] A hint that notes_ has something, pairs with the load in poll(): a turn that
    // misses it is followed by another, and arm() asks under the lock.
    std::atomic<bool> any_noted_{false};
    module::Mutex notes_mutex_; // taken under a port's lock, never the other way
    std::vector<Note> notes_ PLEXUS_MODULE_GUARDED_BY(notes_mutex_);
    bool armed_ PLEXUS_MODULE_GUARDED_BY(notes_mutex_) = false;

    mutable module::Mutex books_; // slots_ is written under it; the progress thread reads without
    std::vector<Link*> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::atomic<std::uint64_t> link_count_{0};
    std::size_t strangers_ = 0;
    std::vector<Link*> ending_;
    std::vector<Link*> strays_;   // without a slot: found here when the module ends
    std::vector<Link*> wishing_;  // wait for room, each once
    std::vector<Link*> carrying_; // ditto, with something to send or read
    std::uint32_t turn_ = 0;
};

} // namespace plexus::libfabric
