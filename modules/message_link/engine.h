// SPDX-License-Identifier: BSD-3-Clause
// The links of one context by one method, over the ports of its library: what abi.h asks of a module, and the
// turn that polls the ports and sees to the links. A module derives its class from Engine, opens its ports,
// and says which of them reaches a descriptor. Everything is @thread progress unless it says otherwise; other
// threads leave notes.
#pragma once

#include "message_link/event_dispatcher.h"
#include "message_link/link_table.h"
#include "message_link/listener.h"
#include "message_link/notes.h"
#include "message_link/pending_links.h"
#include "message_link/port_set.h"
#include "message_link/settings.h"
#include "message_link/timeouts.h"

namespace plexus::message_link {

class Engine {
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
    int wait_fd() const noexcept { return ports_.wait_fd(); }                            ///< @thread any
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);

    // What links ask for.
    const plexus_host& host() const noexcept { return host_; }
    const Settings& settings() const noexcept { return settings_; }
    const PortSet& ports() const noexcept { return ports_; } ///< @thread any
    bool is_closing() const noexcept { return closing_.load(std::memory_order_relaxed); }
    /// Nothing but the ends of what was sent is called back.
    bool is_draining() const noexcept { return stage_ != Stage::runs; }
    Clock::time_point now() const noexcept { return timeouts_.now(); }
    Listener& listener() noexcept { return listener_; }
    void note(Note::What what, Link& link) { notes_.leave({what, &link}); } ///< @thread any
    void note_carrying(Link& link);                                         ///< under its port's lock
    void give_up(Link& link);                                               ///< the host has. @thread any
    void look_after(Link& link) { pending_.add_ending(link); }              ///< try_to_end() from now on

  protected:
    /// The port that reaches `descriptor`, whose bytes come from the wire. BAD_ARGUMENT: it is damaged;
    /// NO_METHOD: none does. Both with the reason. @thread any
    virtual std::int32_t choose(plexus_view descriptor, Port*& port, std::string& why) const = 0;
    /// The label of a port's row; empty if the module has only this port. @thread setup
    virtual std::string_view label_of(std::uint32_t) const { return {}; }
    /// Once, with the ports in order of preference, after they have opened. An error of the system,
    /// or 0. @thread setup
    int start(std::vector<std::unique_ptr<Port>> ports);

  private:
    enum class Stage : std::uint8_t { runs, drains, drained };

    std::uint32_t take_notes();
    void take_note(const Note& note);
    std::uint32_t tell_closed(Port& port);
    void free(Link& link);

    const plexus_host& host_;
    const Settings settings_;
    Notes notes_;
    PortSet ports_;
    LinkTable links_;
    PendingLinks pending_;
    Timeouts timeouts_;
    Listener listener_;
    EventDispatcher dispatcher_;
    std::atomic<bool> closing_{false}; // set once; a send that misses it is still carried
    Stage stage_ = Stage::runs;
    std::uint32_t turns_ = 0;
    bool slept_ = false; // before the next turn
};

} // namespace plexus::message_link
