// SPDX-License-Identifier: BSD-3-Clause
// A link between two contexts of one process: two ends, freed when both are disconnected and no
// posted send is under way. Small messages are copied into the queue of the receiving context; a
// larger message is posted, and the receiver copies the bytes to their destination.
#pragma once

#include "common/host_writes.h"
#include "local/inbox.h"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace plexus::local {

class Module;
struct Channel;

/// Why an end is over, the body of Kind::ended.
struct Reason {
    std::int32_t status;
    const char* text; ///< a literal
};

/// One large message under way. The sender's module and the record that announces the message refer to it.
struct Post {
    // [fetch] The receiver moves waiting -> copying before it reads the sender's bytes and
    // copying -> done after; a sender that gives up moves waiting -> done. A thread that reads done
    // with acquire knows that nobody reads the bytes any more.
    enum State : std::uint32_t { waiting, copying, done };

    Link* from;
    void* token;
    std::array<std::byte, PLEXUS_HEAD_MAX> head;
    std::size_t head_size;
    std::vector<plexus_view> rest;
    std::size_t rest_size;
    std::size_t charge; ///< bytes that the message counts in the link's queue
    std::atomic<State> state{waiting};
    std::int32_t status = PLEXUS_MESSAGE_LOST;
    Post* previous = nullptr; // the module's list
    Post* next = nullptr;

    bool claim() noexcept {
        State expected = waiting;
        return state.compare_exchange_strong(expected, copying, std::memory_order_acquire);
    }
    std::atomic<std::uint32_t> holders{2};
    void release() noexcept {
        if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
};

/// One end. `module` and `cookie` belong to the side that holds it.
struct Link {
    // The functions of abi.h. @thread any
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why) const;

    Channel* channel = nullptr;
    Link* other = nullptr;
    std::shared_ptr<Inbox> home; ///< the queue of the context that holds this end
    Module* module = nullptr;    ///< progress thread of that context, and its sends
    void* cookie = nullptr;

    // Under the lock of `home`: after Kind::closing nothing but Kind::sent may follow, after
    // Kind::ended nothing from the other end.
    bool deaf = false;
    bool ended = false;
    // [given up] Set by disconnect before `closing` is pushed; poll looks at it before each
    // callback. Relaxed: a callback that began before may still be running.
    std::atomic<bool> given_up{false};
    module::HostWrites writes; ///< to the places that the host named for messages; stopped by disconnect
    // [ready] Set by the side that accepts, pairs with the load in send().
    std::atomic<bool> ready{false};

    // Back-pressure. A sender that finds no room stores in `wake_at` the count of `taken` at which the
    // receiver reports room, then reads `taken` again. A receiver that has made room raises `taken`,
    // then reads `wake_at`. All are seq_cst, so at least one of the two sees the other's store.
    std::atomic<std::uint64_t> sent_bytes{0}; ///< written by senders of this end, which the host serialises
    std::atomic<std::uint64_t> taken{0};      ///< of these, taken out by the receiver
    std::atomic<std::uint64_t> wake_at{kNever};
    static constexpr std::uint64_t kNever = UINT64_MAX;

    Link* previous_end = nullptr; // the module's list
    Link* next_end = nullptr;

    std::uint64_t queued_bytes() const noexcept {
        const std::uint64_t out = taken.load(std::memory_order_relaxed); // first: never above sent_bytes
        return sent_bytes.load(std::memory_order_relaxed) - out;
    }
};

struct Channel {
    Link connecting;
    Link accepting;
    plexus_id connecting_id{};
    // References by the two ends and by every Post. The last release frees the link.
    std::atomic<std::uint32_t> holders{2};

    void hold() noexcept { holders.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }
};

/// The reason that the other side is told when an end is disconnected.
inline constexpr Reason kPeerClosed{PLEXUS_LINK_LOST, "the other context closed the link"};

/// Tells the other side that this end is over, unless the other side knows already.
void end_other(Link& mine, Reason reason);
/// Receiver: ends a post that the receiver has claimed, or that nobody may read any more.
void finish(Post& post, std::int32_t status);
/// Receiver: so many bytes that `sender` had sent are out of the queue.
void make_room(Link& sender, std::uint64_t bytes);

} // namespace plexus::local
