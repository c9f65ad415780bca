// SPDX-License-Identifier: BSD-3-Clause
#include "memory/remote_key_cache.h"

#include "memory/lease_frames.h"
#include "transport/peer.h"

#include <algorithm>

namespace plexus::memory {
namespace {

/// Bytes of one piece: a module may copy a piece under the lock of its link, so this bounds how long it holds
/// it.
constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
constexpr std::size_t kMostRefused = 1024; // refusals remembered: they only save a request

} // namespace

RemoteKeyCache::Lease* RemoteKeyCache::find(const transport::Channel& channel,
                                            const wire::BulkHeader& memory) {
    const auto found = std::find_if(leases_.begin(), leases_.end(), [&](const Lease& each) {
        return each.channel == &channel && each.memory.handle == memory.handle &&
               each.memory.generation == memory.generation && each.memory.key == memory.key;
    });
    return found == leases_.end() ? nullptr : &*found;
}

std::list<RemoteKeyCache::Lease> RemoteKeyCache::take_out(std::uint64_t call, const transport::Peer& peer) {
    std::list<Lease> out;
    const auto found = std::find_if(leases_.begin(), leases_.end(), [&](const Lease& each) {
        return each.call == call && each.peer.get() == &peer && each.state == Lease::State::requested;
    });
    if (found != leases_.end()) out.splice(out.end(), leases_, found);
    return out;
}

void RemoteKeyCache::by_messages(const std::list<Lease>& leases) {
    for (const Lease& each : leases)
        for (const Transfer& transfer : each.waiting) carrier_.by_message(*each.channel, transfer);
}

bool RemoteKeyCache::start(transport::Channel& by, const Transfer& transfer) {
    Lease* lease = nullptr;
    std::uint64_t call = 0;
    {
        Lock hold(mutex_);
        if (refused_.contains({&by, transfer.header.handle, transfer.header.generation})) return false;
        lease = find(by, transfer.header);
        if (lease != nullptr && lease->state != Lease::State::held) {
            lease->waiting.push_back(transfer);
            return true;
        }
        if (lease != nullptr) {
            serve(*lease);
        } else {
            Lease& made = leases_.emplace_back();
            made.call = call = next_++;
            made.peer = by.peer().shared_from_this();
            made.channel = &by;
            made.requested_by = &by;
            made.memory = transfer.header;
            made.waiting.push_back(transfer);
        }
    }
    if (lease != nullptr) {
        move(*lease, transfer);
    } else {
        request(by, transfer, call);
    }
    return true;
}

void RemoteKeyCache::request(transport::Channel& by, const Transfer& first, std::uint64_t call) {
    wire::BulkHeader memory = first.header;
    memory.flags = 0;
    memory.call = call;
    memory.offset = memory.length = 0;
    alignas(8) std::byte head[wire::BulkHeader::kBytes];
    wire::encode(wire::Kind::lease_request, memory, head);
    if (send_lease_frame(by, LeaseFrame::request, head, {}, first.expires)) return;
    std::list<Lease> ended;
    {
        Lock hold(mutex_);
        ended = take_out(call, by.peer());
    }
    by_messages(ended); // each message's outcome says why the request could not be sent
}

void RemoteKeyCache::return_lease(transport::Channel& to, std::uint32_t number) {
    alignas(8) std::byte head[wire::ReplyHeader::kBytes];
    wire::encode(wire::Kind::lease_return, wire::ReplyHeader{0, number}, head);
    (void)send_lease_frame(to, LeaseFrame::answer, head); // else the peer is lost, and the lease with it
}

// Counts one more transfer; the lease is kept until its transfers have ended.
void RemoteKeyCache::serve(Lease& lease) {
    ++lease.moving;
    if (++lease.served >= kMostServed && !lease.stays) lease.state = Lease::State::retired;
}

std::vector<Transfer> RemoteKeyCache::admit(Lease& lease) {
    std::size_t some = 0;
    while (some < lease.waiting.size() && lease.state == Lease::State::held) {
        serve(lease);
        ++some;
    }
    const auto end = lease.waiting.begin() + static_cast<std::ptrdiff_t>(some);
    std::vector<Transfer> now(lease.waiting.begin(), end);
    lease.waiting.erase(lease.waiting.begin(), end);
    return now;
}

void RemoteKeyCache::take_lease(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_lease(frame);
    if (!header) return tell_short(from, "a lease");
    const bool granted = header->status == static_cast<std::uint16_t>(Status::ok);
    transport::Channel& sender = *from.channel;
    auto remote_key =
        granted ? transport::attach(sender, frame.subspan(wire::LeaseHeader::kBytes))
                : Result<transport::RemoteKey>(fail(Status::unsupported, "the owner refused the lease"));
    Lease* lease = nullptr;
    std::list<Lease> ended;
    std::vector<Transfer> now;
    {
        Lock hold(mutex_);
        ended = take_out(header->call, *from.peer);
        // The key is valid for the channel of the request only; if that channel broke, it comes by another.
        if (!ended.empty() && remote_key && ended.front().channel == &sender) {
            lease = &ended.front();
            lease->state = Lease::State::held;
            lease->number = header->number;
            lease->remote_key = *remote_key;
            lease->stays = header->stays;
            now = admit(*lease);
            leases_.splice(leases_.end(), ended);
        } else if (!ended.empty() && !granted) {
            if (refused_.size() >= kMostRefused) refused_.clear();
            const Lease& refused = ended.front();
            refused_.insert(
                {{refused.channel, refused.memory.handle, refused.memory.generation}, from.peer.get()});
        }
    }
    if (lease != nullptr) {
        for (const Transfer& each : now)
            move(*lease, each); // all are counted already: the lease is kept until the last ends
        return;
    }
    if (remote_key) transport::detach(sender, *remote_key);
    if (granted) return_lease(sender, header->number);
    by_messages(ended);
}

void RemoteKeyCache::move(Lease& lease, const Transfer& transfer) {
    if (!carrier_.begins(*lease.peer, transfer.header.call)) return moved(lease);
    auto* const under_way = new Move;
    under_way->ended = piece_over;
    under_way->cache = this;
    under_way->lease = &lease;
    under_way->transfer = transfer;
    for (std::uint64_t at = 0; at < transfer.header.length && !under_way->failed; at += kPiece) {
        const std::uint64_t offset = transfer.header.offset + at;
        const std::span<std::byte> piece(transfer.memory + at,
                                         std::min<std::uint64_t>(kPiece, transfer.header.length - at));
        under_way->pieces.fetch_add(1, std::memory_order_relaxed);
        const Status status =
            transfer.kind == wire::Kind::put
                ? transport::put(*lease.channel, lease.remote_key, offset, piece, under_way)
                : transport::get(*lease.channel, lease.remote_key, offset, piece, under_way);
        if (status != Status::posted) piece_over(under_way, status);
    }
    piece_over(under_way, Status::ok);
}

void RemoteKeyCache::piece_over(transport::Completion* posted, Status status) {
    Move& move = *static_cast<Move*>(posted);
    if (status != Status::ok) move.failed.store(true, std::memory_order_relaxed);
    if (move.pieces.fetch_sub(1, std::memory_order_acq_rel) > 1) return; // [move]
    const std::unique_ptr<Move> over(&move);
    RemoteKeyCache& self = *over->cache;
    Lease& lease = *over->lease;
    if (!over->failed) {
        self.carrier_.is_over(*lease.peer, over->transfer.header.call);
    } else {
        self.carrier_.has_failed(*lease.peer, over->transfer.header.call);
        self.carrier_.by_message(*lease.channel, over->transfer);
        Lock hold(self.mutex_);
        lease.state = Lease::State::retired; // the link is lost, or the module cannot use the key
    }
    self.moved(lease);
}

void RemoteKeyCache::moved(Lease& lease) {
    std::list<Lease> ended; // no longer found by find()
    std::optional<Transfer> anew;
    std::uint64_t call = 0;
    {
        Lock hold(mutex_);
        if (--lease.moving > 0) return;
        const bool kept = lease.stays && lease.state == Lease::State::held;
        if (kept && leases_.size() <= kMostLeases) return;
        if (!lease.waiting.empty()) {
            anew = lease.waiting.front();
            Lease& next = leases_.emplace_back();
            next.call = call = next_++;
            next.peer = lease.peer;
            next.channel = lease.channel;
            next.requested_by = lease.channel;
            next.memory = lease.memory;
            next.waiting.swap(lease.waiting);
        }
        const auto found =
            std::find_if(leases_.begin(), leases_.end(), [&](const Lease& each) { return &each == &lease; });
        ended.splice(ended.end(), leases_, found);
    }
    return_lease(ended);
    if (anew) request(*lease.channel, *anew, call);
}

void RemoteKeyCache::return_lease(const std::list<Lease>& leases) {
    for (const Lease& each : leases) {
        transport::detach(*each.channel, each.remote_key);
        return_lease(*each.channel, each.number);
    }
}

void RemoteKeyCache::take_recall(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header) return tell_short(from, "the recall of a lease");
    std::list<Lease> ended;
    {
        Lock hold(mutex_);
        const auto found = std::find_if(leases_.begin(), leases_.end(), [&](const Lease& each) {
            return each.number == header->call && each.peer == from.peer && each.state == Lease::State::held;
        });
        if (found == leases_.end()) return; // it has been returned already
        found->state = Lease::State::retired;
        if (found->moving == 0) ended.splice(ended.end(), leases_, found);
    }
    return_lease(ended);
}

void RemoteKeyCache::requests_lost(const transport::Channel& via) {
    std::list<Lease> ended;
    {
        Lock hold(mutex_);
        for (auto each = leases_.begin(); each != leases_.end();) {
            const auto lease = each++;
            if (lease->state == Lease::State::requested && lease->requested_by == &via)
                ended.splice(ended.end(), leases_, lease);
        }
    }
    by_messages(ended);
}

void RemoteKeyCache::requests_moved(const transport::Channel& from, const transport::Channel& to) {
    Lock hold(mutex_);
    for (Lease& each : leases_)
        if (each.requested_by == &from) each.requested_by = &to;
}

bool RemoteKeyCache::awaits(const transport::Channel& via) {
    Lock hold(mutex_);
    return std::any_of(leases_.begin(), leases_.end(), [&](const Lease& each) {
        return each.state == Lease::State::requested && each.requested_by == &via;
    });
}

void RemoteKeyCache::peer_lost(const transport::Peer& peer) {
    // Modules end all transfers of a link before they report it lost: the leases left here wait for an
    // answer, and the calls of their transfers have been ended.
    Lock hold(mutex_);
    leases_.remove_if([&](const Lease& each) { return each.peer.get() == &peer && each.moving == 0; });
    std::erase_if(refused_, [&](const auto& each) { return each.second == &peer; });
}

} // namespace plexus::memory
