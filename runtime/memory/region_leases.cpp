// SPDX-License-Identifier: BSD-3-Clause
#include "memory/region_leases.h"

#include "memory/lease_frames.h"

#include <algorithm>

namespace plexus::memory {
namespace {

/// Leases of one peer at a time: it has one for each region that it moves bytes to or from.
constexpr std::size_t kMostLeases = 1024;

} // namespace

Registrations::~Registrations() {
    for (const transport::MemoryRegion& each : regions_) endpoint_.regions().remove(each);
}

Result<const transport::MemoryRegion*> Registrations::with(transport::Interface& method, void* data,
                                                           std::size_t size) {
    for (const transport::MemoryRegion& each : regions_)
        if (each.interface == &method) return &each;
    if (endpoint_.closing()) return fail(Status::closed, "this context is closing");
    auto made = endpoint_.regions().add(method, data, size);
    if (!made) return made.failure();
    regions_.push_back(std::move(*made));
    return &regions_.back();
}

void Registrations::unbound() noexcept {
    if (ours) leases_.recall(*this);
}

std::shared_ptr<request::Attached> RegionLeases::allocate(transport::Endpoint& endpoint, std::size_t bytes,
                                                          void*& memory) {
    constexpr std::size_t kLine = 64;
    auto registrations = std::make_shared<Registrations>(*this, endpoint);
    registrations->ours = true;
    memory = nullptr;
    for (const auto& method : endpoint.interfaces()) {
        if (method->limits.remote_bytes == 0 || bytes == 0) continue;
        if (const auto made = registrations->with(*method, nullptr, bytes)) {
            memory = (*made)->data;
            break;
        } else {
            log::info("memory", "{} cannot allocate {} bytes, another way is tried: {}", method->name, bytes,
                      made.failure().why);
        }
    }
    if (memory == nullptr) {
        registrations->heap.reset(
            static_cast<std::byte*>(std::aligned_alloc(kLine, (bytes / kLine + 1) * kLine)));
        memory = registrations->heap.get();
    }
    if (memory == nullptr)
        throw Error(Status::too_large, fmt::format("there is no memory for {} bytes", bytes));
    std::memset(memory, 0, bytes);
    return registrations;
}

// The caller has entered the slot: the binding cannot end before the lease is recorded.
Result<RegionLeases::Lease> RegionLeases::grant(transport::Link& from, request::Objects::Slot& slot,
                                                const transport::MemoryRegion*& region) {
    transport::Interface& method = from.interface;
    if (method.limits.remote_bytes == 0)
        return fail(Status::unsupported, "{} moves messages only", method.name);
    if (slot.bytes == 0) return fail(Status::bad_argument, "the object is not bound memory");
    if (counts_[from.peer.get()] >= kMostLeases)
        return fail(Status::again, "the peer has {} leases already", kMostLeases);
    if (slot.attached == nullptr)
        slot.attached = std::make_shared<Registrations>(*this, from.channel->endpoint());
    auto memory = std::static_pointer_cast<Registrations>(slot.attached);
    const auto made = memory->with(method, slot.object, slot.bytes);
    if (!made) return made.failure();
    region = *made;
    if (!memory->ours) request::Objects::pin(slot);
    return Lease{memory->ours ? nullptr : &slot, std::move(memory), from.peer, from.channel};
}

void RegionLeases::take_request(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_bulk(frame);
    if (!header) return tell_short(from, "a request for a lease");
    wire::LeaseHeader answer{false, static_cast<std::uint16_t>(Status::dead_pointer), header->call, 0};
    const transport::MemoryRegion* region = nullptr;
    request::Objects::Slot* const slot = objects_.enter(header->handle, header->generation, header->key);
    if (slot != nullptr) {
        auto lease = grant(from, *slot, region);
        answer.status = static_cast<std::uint16_t>(lease ? Status::ok : lease.status());
        if (lease) {
            answer.stays = lease->pinned == nullptr;
            answer.number = next_++;
            ++counts_[from.peer.get()];
            Lock hold(mutex_);
            leases_.emplace(answer.number, std::move(*lease));
        } else {
            log::debug("memory", "a lease is refused: {}", lease.failure().why);
        }
    }
    // A refusal carries no text: the transfer then comes as a message, and its answer says why.
    alignas(8) std::byte head[wire::LeaseHeader::kBytes];
    wire::encode(answer, head);
    const wire::View key = region != nullptr ? wire::View(region->key) : wire::View();
    (void)send_lease_frame(*from.channel, LeaseFrame::answer, head, key); // else the peer is lost
    objects_.leave();
}

// The slot owns the registrations of pinned memory, too: they end with the binding, before the memory does.
void RegionLeases::end(Lease& lease) noexcept {
    lease.memory.reset();
    if (lease.pinned != nullptr) request::Objects::unpin(*lease.pinned);
}

void RegionLeases::take_return(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header) return tell_short(from, "the return of a lease");
    if (header->call > UINT32_MAX) return;
    std::unordered_map<std::uint32_t, Lease>::node_type ended; // ends without the lock
    {
        Lock hold(mutex_);
        const auto found = leases_.find(static_cast<std::uint32_t>(header->call));
        if (found == leases_.end() || found->second.peer != from.peer) return;
        ended = leases_.extract(found);
    }
    --counts_[from.peer.get()];
    end(ended.mapped());
}

void RegionLeases::recall(const Registrations& memory) noexcept {
    std::vector<std::pair<std::uint32_t, transport::Channel*>> held;
    std::vector<std::shared_ptr<transport::Peer>> peers; // keep the channels alive
    {
        Lock hold(mutex_);
        for (const auto& [number, lease] : leases_) {
            if (lease.memory.get() != &memory) continue;
            held.emplace_back(number, lease.channel);
            peers.push_back(lease.peer);
        }
    }
    for (const auto& [number, channel] : held) {
        alignas(8) std::byte head[wire::ReplyHeader::kBytes];
        wire::encode(wire::Kind::lease_recall, wire::ReplyHeader{0, number}, head);
        (void)send_lease_frame(*channel, LeaseFrame::answer, head);
    }
}

void RegionLeases::peer_lost(const transport::Peer& peer) {
    std::vector<Lease> ended;
    {
        Lock hold(mutex_);
        for (auto each = leases_.begin(); each != leases_.end();) {
            if (each->second.peer.get() == &peer) {
                ended.push_back(std::move(each->second));
                each = leases_.erase(each);
            } else {
                ++each;
            }
        }
    }
    counts_.erase(&peer);
    for (Lease& each : ended) end(each);
}

} // namespace plexus::memory
