// SPDX-License-Identifier: BSD-3-Clause
// One link of a module, as its host keeps it: the cookie of every callback about it, and
// what has come in on it. The leader's own, but for what Object's lock guards.
#pragma once

#include "base/buffer.h"
#include "comm/method.h"
#include "wire/frame.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_set>

namespace plexus::comm {

class Object;
class Peer;

/// Memory for one message that arrives in place.
struct Placement {
    Buffer memory;              ///< ours; null where the place is the application's
    std::byte* frame = nullptr; ///< in `memory`: the whole frame, 8-byte aligned
    std::size_t size = 0;
    /// Called instead of the kind's sink when the bytes are where they belong.
    void (*finish)(void* self, Placement&, Status) = nullptr;
    void* self = nullptr;
    std::uint64_t word[4]{}; ///< the finisher's
    std::shared_ptr<const void> pin;
};

struct Connection {
    Method* method = nullptr;
    std::shared_ptr<Peer> peer;
    Object* object = nullptr;
    plexus_link* link = nullptr;
    bool open = false;
    // Set by the progress thread, read by senders too; the object's lock orders what goes with it.
    std::atomic<bool> lost{false};
    bool heard = false;   ///< a frame of link control has come on it
    bool ignored = false; ///< its stream was given up: what still comes is not delivered
    bool broken_rules = false;
    bool farewell = false; ///< the peer has said goodbye on it

    // What comes in.
    std::uint32_t stream = 0; ///< 0: no hello yet
    std::uint64_t delivered = 0;
    std::uint64_t confirmed = 0; ///< what we have told of that
    std::uint64_t unconfirmed_bytes = 0;
    std::unordered_set<std::unique_ptr<Placement>> placements;

    // What goes out before anything else; guarded by the object's lock.
    std::deque<wire::Bytes> controls;
};

} // namespace plexus::comm
