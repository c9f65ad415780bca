// SPDX-License-Identifier: BSD-3-Clause
#include "shm/room_wait.h"

namespace plexus::shm {

bool RoomWait::begin(const Wants& wants) noexcept {
    consumed_.store(wants.consumed, std::memory_order_relaxed);
    released_.store(wants.released, std::memory_order_relaxed);
    ended_.store(wants.ended, std::memory_order_relaxed);
    blocked_.store(true, std::memory_order_seq_cst); // [blocked]
    if (!gate_.is_connecting())
        out_->waiting.store(1, std::memory_order_seq_cst); // pairs with Receiver::made_room
    if (!may_go_on()) return true;
    return !end(); // false now: the poller was faster
}

bool RoomWait::may_go_on() const noexcept {
    return gate_.is_open(std::memory_order_seq_cst) &&
           out_->consumed.load(std::memory_order_seq_cst) >= consumed_.load(std::memory_order_relaxed) &&
           out_->released.load(std::memory_order_seq_cst) >= released_.load(std::memory_order_relaxed) &&
           posted_.ended() >= ended_.load(std::memory_order_relaxed);
}

// The peer takes `waiting` back when it tells of progress, also if that is less than is needed here. Before
// this context waits for more, it has to ask again; and look again, because the peer may have been faster.
void RoomWait::ask_for_progress() const noexcept {
    if (gate_.is_connecting()) return; // nothing is attached yet
    if (out_->waiting.load(std::memory_order_seq_cst) == 0)
        out_->waiting.store(1, std::memory_order_seq_cst); // pairs with Receiver::made_room
}

} // namespace plexus::shm
