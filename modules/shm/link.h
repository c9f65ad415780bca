// SPDX-License-Identifier: BSD-3-Clause
// A link: one connection to one context, both ways. Holds what both halves live on, and what
// the module keeps about it. @thread progress, except where a comment says otherwise.
#pragma once

#include "shm/opening.h"
#include "shm/orders.h"
#include "shm/receiver.h"
#include "shm/sender.h"

#include <memory>
#include <optional>

namespace plexus::shm {

struct Link {
    Link(Orders& the_orders, const plexus_host& host, const Options& the_options, Totals& totals)
      : orders(the_orders)
      , options(the_options)
      , sender(host, the_options, totals)
      , receiver(host) {}
    // The functions of abi.h. @thread any
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why);

    static constexpr std::uint32_t kNoSlot = UINT32_MAX;

    /// Where a link is in its life.
    enum class State : std::uint8_t { opening, open, lost };

    /// What both sides share, and how this one hears of the other.
    struct Shared {
        UniqueFd socket;
        UniqueFd process; ///< the peer's, a pidfd, where the kernel gives one
        SealedMemory segment;
        Direction* out = nullptr;
        Direction* in = nullptr;
        Doorbell doorbell;
        SocketName peer{}; ///< in the peer's descriptor, as the peer says
    };
    /// Of the side that connects, until the link is open.
    struct Call {
        std::unique_ptr<Opening> opening;
        plexus_id peer{}; ///< whom connect named, and where
        SocketName name{};
        bool again = false;  ///< a first opening was cut off
        UniqueFd segment_fd; ///< until it has been passed on
    };
    /// See HotLinks.
    struct Heat {
        bool hot = false;
        std::uint32_t events = 0; ///< in the present period
        std::uint32_t period = 0; ///< which one that is
    };

    Orders& orders;
    const Options& options;
    void* cookie = nullptr;
    Shared shared;
    Sender sender;
    Receiver receiver;

    // [gone] Set by disconnect; the poller looks before each callback. Relaxed: a callback that
    // began before may still be running. A cache line begins here: each poll reads this and writes `heat`.
    alignas(kLineBytes) std::atomic<bool> gone{false};
    // [ready] Set when the halves are attached; pairs with the loads in Module::query and
    // LinkTable.
    std::atomic<bool> ready{false};
    State state = State::opening;
    std::uint32_t slot = kNoSlot;
    bool busy = false; ///< in BusyLinks
    Heat heat;
    Call call;
    /// Disconnected, but sends are posted: they are given up then.
    std::optional<Clock::time_point> leaves_at;
    /// No memory or descriptor for the peer's area since then: the module tries again. Never: the epoch.
    Clock::time_point short_since{};

    /// Joins the halves to the segment. `connected`: this side made it. `number`: of the peer's process.
    /// `reads`: the kernel lets us read its memory.
    void attach(std::uint32_t ring_lines, bool connected, pid_t number, bool reads, SpareDescriptor& spare);
};

} // namespace plexus::shm
