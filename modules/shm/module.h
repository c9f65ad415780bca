// SPDX-License-Identifier: BSD-3-Clause
// The shm method of one context: its mailbox, its door (the socket on which others call),
// its links, and who of them is polled directly. Everything is @thread progress unless it
// says otherwise; other threads leave orders.
//
// Cost of a poll: the few hot links' next lines, one word of the mailbox, one flag. The
// kernel is asked for callers and deaths every 100 us or so, and after each sleep.
#pragma once

#include "shm/link.h"

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
    std::int32_t describe(plexus_text& out) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);
    int wait_fd() const noexcept { return epoll_.get(); }
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;

    /// @thread any
    void order(Order::Do what, Link& link);
    const Options& options() const noexcept { return options_; }

  private:
    struct Caller { // someone who has not proved anything yet
        std::uint32_t id;
        std::unique_ptr<Opening> opening;
    };
    static constexpr std::uint32_t kMostHot = 16;
    // What an event of the epoll set is about.
    static constexpr std::uint64_t kEventTag = 0;
    static constexpr std::uint64_t kDoorTag = 1;
    static constexpr std::uint64_t kCallerTag = std::uint64_t{1} << 32; // + Caller::id
    static constexpr std::uint64_t kLinkTag = std::uint64_t{2} << 32;   // + Link::slot

    // links.cpp: how links come and go
    std::uint32_t take_orders();
    void begin(Link& link);
    void step(Link& link);
    void finish_opening(Link& link);
    void accept_callers();
    void step_caller(std::size_t index);
    std::unique_ptr<Opening> drop_caller(std::size_t index);
    void adopt(Opening& opening);
    std::string prepare(Link& link, Opening& opening);
    std::string join(Link& link, Opening& opening, bool connected, std::uint32_t ring_lines);
    void leave(Link& link);
    void lose(Link& link, std::int32_t status, const std::string& why);
    void release(Link& link);
    bool give_slot(Link& link);
    Setup setup_for(const Link& link, std::uint32_t ring_lines) const;
    bool watch(int fd, std::uint64_t tag);
    void unwatch(int fd);

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
    void hear(Link& link);
    void end_of(Link& link);
    void check_time(Clock::time_point now);

    const plexus_host host_;
    const Options options_;

    std::array<Link*, kMostHot> hot_{};
    std::uint32_t hot_count_ = 0;
    std::uint32_t heat_period_ = 0;
    std::uint32_t first_bell_ = 0;
    Link* busiest_ = nullptr; // of those that aren't hot, in this period
    std::uint32_t until_look_ = 1;
    bool armed_ = false;
    bool closing_ = false;
    bool draining_ = false;
    bool door_shut_ = false; // no descriptor for another caller: it is tried again later
    bool joined_ = false;    // the barrier
    Mailbox mailbox_;
    std::vector<Link*> busy_; // wants a look in each turn: streams, copies, links that leave

    // [orders] Set after the order is in the list, cleared before the list is taken.
    std::atomic<bool> ordered_{false};
    module::Mutex orders_mutex_;
    std::vector<Order> orders_ PLEXUS_MODULE_GUARDED_BY(orders_mutex_);

    module::OwnedFd epoll_;
    module::OwnedFd door_;
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

    std::vector<Caller> callers_;
    std::uint32_t next_caller_ = 0;
    std::vector<Link*> openings_;
    Clock::time_point last_look_{};
    Clock::time_point last_heat_{};
    Clock::time_point last_idle_{};
    Clock::time_point door_tried_{};
};

} // namespace plexus::shm
