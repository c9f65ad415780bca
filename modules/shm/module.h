// SPDX-License-Identifier: BSD-3-Clause
// The shm method of one context: its mailbox, its door (the socket on which others call),
// its links, and who of them is polled directly. Everything is @thread progress unless it
// says otherwise; other threads leave orders.
//
// Cost of a poll: the few hot links' next lines, one word of the mailbox, one flag. The
// kernel is asked for callers and deaths every 100 us or so, and after each sleep.
//
// Shares. Each hot link has the whole budget of a poll to itself; the others together have one more, handed
// out in turn; each stream and each copy goes on by a megabyte; 16 callers are let in at a time. So no link
// takes the time of another, of callers, or of what is timed.
#pragma once

#include "shm/door.h"
#include "shm/event_set.h"
#include "shm/link.h"
#include "shm/spare_descriptor.h"

#include <array>
#include <string>
#include <vector>

namespace plexus::shm {

/// What another thread wants the poller to do.
struct Order {
    enum class Do : std::uint8_t { connect, disconnect, stream };
    Do what;
    Link* link;
};

/// Why there is no link; without a text there is one.
struct Refusal {
    std::string why;
    std::int32_t status = PLEXUS_LINK_LOST;
};

extern const plexus_ops kOps;

class Module {
  public:
    Module(const plexus_host& host, const Options& options);
    ~Module();
    /// Not OK: the reason is in the log.
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    std::int32_t open();

    // As in abi.h.
    void close();
    void drain();
    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);
    int wait_fd() const noexcept { return events_.fd(); }
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;

    /// @thread any
    void order(Order::Do what, Link& link);
    const Options& options() const noexcept { return options_; }

  private:
    static constexpr std::uint32_t kMostHot = 16;
    // What an event of the set is about, beside the tags of Door.
    static constexpr std::uint64_t kEventTag = 0;
    static constexpr std::uint64_t kLinkTag = std::uint64_t{2} << 32;    // + Link::slot: its socket
    static constexpr std::uint64_t kProcessTag = std::uint64_t{4} << 32; // + Link::slot: the peer's process

    // links.cpp: how links come and go
    std::uint32_t take_orders();
    void begin(Link& link);
    void step(Link& link);
    std::unique_ptr<Opening> opening_of(const Link& link, Clock::time_point until) const;
    bool make_segment(Link& link);
    void finish_opening(Link& link);
    void accept_callers();
    void hear_caller(std::uint32_t id);
    void adopt(Opening& opening);
    std::string prepare(Link& link, Opening& opening);
    Refusal join(Link& link, Opening& opening, bool connected, std::uint32_t ring_lines);
    Refusal watch_process(Link& link, pid_t number, std::uint64_t start_time);
    void leave(Link& link);
    void lose(Link& link, std::int32_t status, const std::string& why);
    void release(Link& link);
    bool give_slot(Link& link);
    Setup setup_for(const Link& link, std::uint32_t ring_lines) const;
    void unwatch(Link& link);

    // poll.cpp: what a turn does
    std::uint32_t serve(Link& link, std::uint32_t budget);
    std::uint32_t answer_bells(std::uint32_t budget);
    std::uint32_t tend_busy();
    bool tend(Link& link, std::uint32_t& handled);
    void add_busy(Link& link);
    void heat(Link& link);
    void cool(Link& link);
    void compare_heat();
    bool has_news() const;
    void wake_up();
    void look_around(bool at_once);
    void take_events();
    void take_event(std::uint64_t tag);
    void hear(Link& link);
    void hold_up(Link& link);
    void note_short(Link& link);
    void end_of(Link& link);
    /// This is a forked child of the process that opened the module: all that is shared is the parent's.
    bool is_forked() const noexcept;
    void check_time(Clock::time_point now);

    const plexus_host host_;
    const Options options_;

    std::array<Link*, kMostHot> hot_{};
    std::uint32_t hot_count_ = 0;
    std::uint32_t heat_period_ = 0;
    std::uint32_t first_bell_ = 0; // the one that the next turn begins with
    Link* busiest_ = nullptr;      // of those that aren't hot, in this period
    std::int32_t until_look_ = 1;  // see look_around()
    bool armed_ = false;
    bool closing_ = false;
    bool draining_ = false;
    bool joined_ = false; // the barrier
    Mailbox mailbox_;
    std::vector<Link*> busy_; // wants a look in each turn: streams, copies, links that leave

    // [orders] Set after the order is in the list, cleared before the list is taken.
    std::atomic<bool> ordered_{false};
    module::Mutex orders_mutex_;
    std::vector<Order> orders_ PLEXUS_MODULE_GUARDED_BY(orders_mutex_);

    EventSet events_;
    Door door_{host_, events_};
    SpareDescriptor spare_;
    pid_t owner_ = 0;
    std::uint64_t start_time_ = 0; // of this process
    Descriptor here_;
    Cookie cookie_{}; // peers read it to see whether they may

    // Written by the poller under books_, which therefore reads them without; others take it.
    mutable module::Mutex books_;
    std::vector<Link*> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::vector<Link*> strays_; // without a slot, until the host gives them up
    std::atomic<std::uint64_t> link_count_{0};
    std::atomic<std::uint64_t> segment_bytes_{0};
    Totals totals_;

    std::vector<Link*> openings_;
    std::vector<Link*> short_; // of memory or descriptors, see Receiver::is_short
    Clock::time_point last_look_{};
    Clock::time_point last_heat_{};
    Clock::time_point last_idle_{};
    Clock::time_point last_retry_{};
};

} // namespace plexus::shm
