// SPDX-License-Identifier: BSD-3-Clause
// A link: one connection to one context, both ways. Holds what both halves live on, and what
// the module keeps about it. @thread progress, but for what says other.
#pragma once

#include "shm/opening.h"
#include "shm/receiver.h"
#include "shm/sender.h"

#include <memory>

namespace plexus::shm {

class Module;

struct Link {
    Link(Module& the_owner, const plexus_host& host, const Options& options, Totals& totals)
      : owner(the_owner)
      , sender(host, options, totals)
      , receiver(host) {}
    // The functions of abi.h. @thread any
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why);

    static constexpr std::uint32_t kNoSlot = UINT32_MAX;

    /// Where a link is in its life.
    enum class State : std::uint8_t { opening, open, lost };

    Module& owner;
    void* cookie = nullptr;
    Sender sender;
    Receiver receiver;

    // [gone] Set by disconnect; the poller looks before each callback. Relaxed: a callback that
    // began before may still be running.
    std::atomic<bool> gone{false};
    // [ready] Set when the halves are attached; pairs with the load in Module::query.
    std::atomic<bool> ready{false};
    State state = State::opening;
    bool leaving = false; ///< disconnected, still has posted sends, which are given up at leaving_until
    Clock::time_point leaving_until{};
    bool hot = false;
    bool busy = false; ///< in the module's list
    std::uint32_t slot = kNoSlot;
    std::uint32_t events = 0;      ///< in the present period
    std::uint32_t heat_period = 0; ///< which one that is

    module::OwnedFd socket;
    module::OwnedFd process; ///< the peer's, a pidfd, where the kernel gives one
    SharedMemory segment;
    Direction* out = nullptr;
    Direction* in = nullptr;
    Bell bell;

    std::unique_ptr<Opening> opening; ///< by connect, until open
    plexus_id peer{};                 ///< whom connect named, and where
    SocketName name{};
    bool called_again = false;  ///< a first opening was cut off
    module::OwnedFd segment_fd; ///< until it has been passed on

    /// No memory or descriptor for the peer's area since then: the module tries again. Never: the epoch.
    Clock::time_point short_since{};

    /// Joins the halves to the segment. `connected`: this side made it. `number`: of the peer's process.
    /// `reads`: the kernel lets us read its memory.
    void attach(std::uint32_t ring_lines, bool connected, pid_t number, bool reads, SpareDescriptor& spare);
};

} // namespace plexus::shm
