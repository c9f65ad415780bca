// SPDX-License-Identifier: BSD-3-Clause
// One link of a method that works over another: it owns a link of the inner method. Each hook hands
// on unchanged what it is told; a method overrides those of what it changes.
//
// Locks: calls_ serialises what is called about the inner link, as abi.h demands of a host. Taken
// after the host's own lock of this link; never held in a call to the host. border() likewise, and
// never together with calls_.
#pragma once

#include "base/lock.h"
#include "plexus/module/module.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plexus::over {

class Module;

class Link {
  public:
    explicit Link(Module& owner)
      : owner_(owner) {}
    virtual ~Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // The handle is never given a type of its own: each module in a program has another.
    plexus_link* handle() { return reinterpret_cast<plexus_link*>(this); }

    // The functions of the same names in abi.h.
    void disconnect();
    /// Default: the method's own parameters are set at open only; others are the inner method's.
    virtual std::int32_t set(const char* key, const char* value, plexus_text& why);
    std::uint32_t row() const;
    virtual std::int32_t check_claim(plexus_claim what, const char* said, plexus_text& why);
    /// Changes what goes out. Default: send_inner().
    virtual std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    std::int32_t query(plexus_query what, std::uint64_t& value) const;

    /// Begins the inner link to the owner of `inner`; what the inner module says. @thread any
    std::int32_t connect(plexus_view inner, const plexus_id& peer, void* cookie);

    /// Tells the host that more of a message has come that is not whole yet. @thread progress
    friend void tell_arriving(const Link& link);

    /// Says what is owed: `writable`, `lost`. False: asks to be called again by the next poll.
    /// @thread progress
    bool pay(std::int32_t& handled);

  protected:
    // ---- hooks: what the inner link tells. @thread progress, no lock held -----------------------

    /// The host wants this link; the inner one is not begun yet. A reason: it is lost at once.
    virtual std::string on_connect() { return {}; }
    /// The inner link that this side began is open. Default: announce(). A method with an exchange
    /// of its own begins it here and announces the link when it is over; until then send() answers
    /// PLEXUS_AGAIN, and owe_writable() follows.
    virtual void on_opened() { (void)announce(); }
    /// An inner link came in. Default: announce(). Not OK: the inner link is dropped. OK without
    /// announce(): the host does not know this link yet. Must not cut().
    virtual std::int32_t on_accepted() { return announce(); }
    virtual void on_deliver(plexus_view message);
    virtual std::int32_t on_place(plexus_view head, std::size_t rest, void** where, void** token);
    virtual void on_placed(void* token, std::int32_t status);
    virtual void on_sent(void* token, std::int32_t status);
    virtual void on_writable();
    /// The inner link will tell no more; what was kept back goes to the host now, before `lost`.
    virtual void on_ending() {}
    /// The inner link is gone and holds no posted send: what the method itself has posted for the host ends
    /// now, by `sent`. Comes before `lost`, or before the link goes; may come twice.
    virtual void on_over() {}
    /// Whether the method still has to send what it had accepted. While it does, a link that the host has
    /// given up keeps its inner link, and each poll asks again: the method sees to it that this ends.
    /// @thread progress, or the one that disconnects
    virtual bool has_unsent() { return false; }
    /// What a method owes beside `writable` and `lost`: asked in a poll after Module::owe(). False: asks
    /// again in the next poll.
    virtual bool on_turn() { return true; }

    // ---- for the hooks --------------------------------------------------------------------------

    /// To the inner link, also from a hook. PLEXUS_LINK_LOST once it is cut or given up.
    std::int32_t send_inner(const plexus_view* pieces, std::uint32_t count, void* token);
    /// Tells the host that the link is open: `opened`, or `accepted` for one that came in. Not OK:
    /// the host refused it; on_accepted() answers that, other hooks cut() the link.
    std::int32_t announce();
    /// Gives the inner link up. The host hears `lost` from a later poll, after the last `sent`. Only
    /// the first cut counts. A link that the host does not know goes without a word. @thread any
    void cut(std::int32_t status, std::string why);
    /// The host hears `writable` from the next poll. @thread any
    void owe_writable();

    /// Held while a method writes to a place of the host's, after is_over() was asked under it: a disconnect
    /// waits, and nothing is written there after it.
    Mutex& border() noexcept { return border_; }
    /// Nothing that arrives is for the host any more.
    bool is_over() const noexcept { return given_up_ || is_cut_ || told_lost_; }
    /// As `connect` named the peer, or as it has proved to the inner method to be.
    const plexus_id& peer() const noexcept { return known_as_.peer; }

  private:
    friend struct Callbacks;
    friend class Module; // on_over(), posted_
    struct Ending {
        std::int32_t status = PLEXUS_LINK_LOST;
        std::string why;
    };
    /// How the host speaks of this link.
    struct KnownAs {
        void* cookie = nullptr;
        plexus_id peer{};
        bool came_in = false;
    };
    void drop();
    bool let_go();

    Module& owner_;
    Mutex border_;
    mutable Mutex calls_;
    plexus_link* inner_ PLEXUS_GUARDED_BY(calls_) = nullptr; // null once cut or given up
    Ending cut_ PLEXUS_GUARDED_BY(calls_);
    KnownAs known_as_;      // written before the host, or the inner module, knows this link
    bool is_known_ = false; // the host knows the link; progress, or before it is told

    // Each says one thing; a lock of the host's or of the module's orders what goes with it.
    std::atomic<bool> given_up_{false};
    std::atomic<bool> is_cut_{false};
    std::atomic<bool> is_let_go_{false};
    std::atomic<bool> told_lost_{false};
    std::atomic<bool> owes_writable_{false};
    std::atomic<std::uint32_t> posted_{0}; // sends that the inner module still holds

    std::vector<void*> placing_; // tokens that on_place() gave and on_placed() has not ended; progress
};

/// Hexadecimal, for messages.
std::string text_of(const plexus_id& id);

} // namespace plexus::over
