// SPDX-License-Identifier: BSD-3-Clause
// The links of one context by one method, over the ports of its library, and the turn that polls
// them. A module derives its class from Engine, opens its ports, and says which of them reaches a
// descriptor; everything else that abi.h asks of a module is here. Everything is @thread progress
// unless it says otherwise; other threads leave notes.
#pragma once

#include "message_link/link_table.h"
#include "message_link/notes.h"
#include "message_link/settings.h"

#include <array>
#include <deque>

namespace plexus::message_link {

class Engine : public Waker {
  public:
    Engine(const plexus_host& host, const Settings& settings);
    virtual ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // The functions of the same names in abi.h.
    void close() { closing_.store(true, std::memory_order_relaxed); }
    void drain();
    /// A row for each port, in their order; a label where label_of() gives one. @thread setup
    std::int32_t describe(plexus_rows& rows) const;
    virtual std::int32_t applies(plexus_view descriptor, plexus_text& why) const; ///< @thread any
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const; ///< @thread any
    int wait_fd() const noexcept { return epoll_.get(); }                                ///< @thread any
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);

    // What links ask for.
    const plexus_host& host() const noexcept { return host_; }
    const Settings& settings() const noexcept { return settings_; }
    bool is_closing() const noexcept { return closing_.load(std::memory_order_relaxed); }
    /// Nothing but the ends of what was sent is called back.
    bool is_draining() const noexcept { return stage_ != Stage::runs; }
    Clock::time_point now() const noexcept { return now_; }
    std::uint32_t row_of(const Port& port) const noexcept;                  ///< @thread any
    void note(Note::What what, Link& link) { notes_.leave({what, &link}); } ///< @thread any
    void note_carrying(Link& link);                                         ///< under its port's lock
    void give_up(Link& link);                                               ///< the host has. @thread any
    void look_after(Link& link);                                            ///< try_to_end() from now on
    void count_stranger(int by) noexcept { strangers_.count += by; }
    void wake() override { notes_.wake(); }

  protected:
    /// The port that reaches `descriptor`, whose bytes come from the wire. BAD_ARGUMENT: it is damaged;
    /// NO_METHOD: none does. Both with the reason. @thread any
    virtual std::int32_t choose(plexus_view descriptor, Port*& port, std::string& why) const = 0;
    /// The label of a port's row; empty if the module has only this port. @thread setup
    virtual std::string_view label_of(std::uint32_t) const { return {}; }
    /// Once, with the ports in order of preference, after they have opened. An error of the system,
    /// or 0. @thread setup
    int start(std::vector<std::unique_ptr<Port>> ports);
    const std::vector<std::unique_ptr<Port>>& ports() const noexcept { return ports_; }

  private:
    enum class Stage : std::uint8_t { runs, drains, drained };
    static constexpr std::size_t kBatch = 16;

    /// Links that the turn looks after, each once.
    struct Lists {
        std::vector<Link*> ending;
        std::vector<Link*> want_room; // to be told when they may send again
        std::vector<Link*> carrying;  // have something to send or fetch
    };

    struct Turn {
        std::uint32_t number = 0;
        std::size_t first = 0;       // the port that is asked first in the next turn
        bool slept = false;          // before it
        bool timed = false;          // some link may have a deadline that counts
        Clock::time_point checked{}; // when deadlines were looked at
    };
    struct Strangers {
        int count = 0; // links that have not proved themselves
        Clock::time_point quiet_until{};
        struct Waiting {
            Port* port;
            Bytes hello;
            Clock::time_point came;
        };
        std::deque<Waiting> hellos; // of members, until the number of links falls
    };

    std::uint32_t take_notes();
    std::uint32_t take_hellos(std::uint32_t budget);
    void check_times();
    std::uint32_t poll_port(Port& port, std::uint32_t budget);
    void take(Port& port, Event& event);
    void receive(Port& port, Message& message);
    void take_hello(Port& port, ByteView body);
    void turn_away(const std::string& why);
    std::uint32_t tell_closed(Port& port);
    std::uint32_t carry();
    std::uint32_t tell_writable();
    void look_after_endings();
    void free(Link& link);
    bool is_under_way() const;

    const plexus_host& host_;
    const Settings settings_;
    std::vector<std::unique_ptr<Port>> ports_;
    LinkTable links_;
    Notes notes_;
    Lists lists_;
    module::OwnedFd epoll_;
    std::atomic<bool> closing_{false}; // set once; a send that misses it is still carried
    Stage stage_ = Stage::runs;
    Strangers strangers_;
    Turn turn_;
    Clock::time_point now_{};
    std::array<Event, kBatch> events_;
};

} // namespace plexus::message_link
