// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/operations.h"

#include "ucx/liveness_socket.h"

namespace plexus::ucx {

using message_link::Event;

Op& Operations::take(UcxPeer& peer, Op::What what, std::size_t bytes) {
    Op& op = pool_.take(what, bytes);
    op.owner = this;
    op.peer = &peer;
    return op;
}

void Operations::begin(Op& op) {
    op.peer->enlist(op);
    if (library_.on_host()) port_.waker->wake(); // a sleeper has to look after it
}

void Operations::complete(Op& op, bool failed) {
    if (UcxPeer* const peer = op.peer; peer != nullptr) {
        peer->take_off(op);
        // A process on this host may have reused its memory before we read it. A context closes its liveness
        // socket before it reuses memory that peers may still read.
        if (op.what == Op::What::receive && !library_.endpoints_fail())
            failed = failed || has_hung_up(peer->endpoint.liveness.get());
        if (op.what == Op::What::carried) failed = peer->endpoint.failed;
        tell(op, *peer, failed);
    } else {
        std::erase(orphans_, &op);
    }
    pool_.give_back(op);
}

void Operations::tell(const Op& op, UcxPeer& peer, bool failed) {
    if (op.what == Op::What::copy) return;
    Event& event = events_.emplace_back();
    event.what = op.what == Op::What::receive ? Event::What::landed : Event::What::sent;
    event.peer = &peer;
    event.token = op.token;
    event.bytes = op.size;
    const std::int32_t how = op.what == Op::What::move ? PLEXUS_LINK_LOST : PLEXUS_MESSAGE_LOST;
    event.status = failed ? how : PLEXUS_OK;
    port_.waker->wake();
}

void Operations::tell_broken(UcxPeer& peer, const std::string& why) {
    Event& event = events_.emplace_back();
    event.what = Event::What::broken;
    event.peer = &peer;
    event.why = why;
}

std::size_t Operations::take_events(Event* out, std::size_t most) {
    const std::size_t count = std::min(most, events_.size());
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(events_.begin(), end, out);
    events_.erase(events_.begin(), end);
    return count;
}

void Operations::orphan(UcxPeer& peer, Op::What what, bool told) {
    for (Op* next = peer.ops; next != nullptr;) {
        Op& op = *next;
        next = op.next;
        if (op.what != what) continue;
        peer.take_off(op);
        if (told) tell(op, peer, true);
        orphans_.push_back(&op);
    }
}

void Operations::orphan_all(UcxPeer& peer) {
    for (const auto what : {Op::What::copy, Op::What::carried, Op::What::move, Op::What::receive})
        orphan(peer, what, true);
}

void Operations::free_orphans() {
    for (Op* const op : orphans_) pool_.give_back(*op);
    orphans_.clear();
}

void Operations::forget(UcxPeer& peer) {
    orphan(peer, Op::What::copy, false); // what UCX has yet to send from memory of ours is no reason to wait
    std::erase_if(events_, [&](const Event& each) { return each.peer == &peer; });
}

} // namespace plexus::ucx
