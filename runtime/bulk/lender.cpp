// SPDX-License-Identifier: BSD-3-Clause
#include "bulk/lender.h"

#include "bulk/word.h"

#include <algorithm>

namespace plexus::bulk {
namespace {

/// Of one peer at a time: it has one for each memory that it moves bytes of.
constexpr std::size_t kMostLoans = 1024;

} // namespace

Exposures::~Exposures() {
    for (const transport::MemoryRegion& each : known_) endpoint_.regions().remove(each);
}

Result<const transport::MemoryRegion*> Exposures::by(transport::Interface& method, void* data,
                                                     std::size_t size) {
    for (const transport::MemoryRegion& each : known_)
        if (each.interface == &method) return &each;
    if (endpoint_.closing()) return fail(Status::closed, "this context is closing");
    auto made = endpoint_.regions().add(method, data, size);
    if (!made) return made.failure();
    known_.push_back(std::move(*made));
    return &known_.back();
}

void Exposures::unbound() noexcept {
    if (ours) lender_.recall(*this);
}

std::shared_ptr<request::Attached> Lender::allocate(transport::Endpoint& endpoint, std::size_t bytes,
                                                    void*& memory) {
    constexpr std::size_t kLine = 64;
    auto ways = std::make_shared<Exposures>(*this, endpoint);
    ways->ours = true;
    memory = nullptr;
    for (const auto& method : endpoint.interfaces()) {
        if (method->limits.remote_bytes == 0 || bytes == 0) continue;
        if (const auto made = ways->by(*method, nullptr, bytes)) {
            memory = (*made)->data;
            break;
        } else {
            log::info("bulk", "memory is allocated in another way: {}", made.failure().why);
        }
    }
    if (memory == nullptr) {
        ways->heap.reset(static_cast<std::byte*>(std::aligned_alloc(kLine, (bytes / kLine + 1) * kLine)));
        memory = ways->heap.get();
    }
    if (memory == nullptr)
        throw Error(Status::too_large, fmt::format("there is no memory for {} bytes", bytes));
    std::memset(memory, 0, bytes);
    return ways;
}

// The slot is entered: what is found here is there until the loan is recorded.
Result<Lender::Loan> Lender::lend(transport::Link& from, request::Objects::Slot& slot,
                                  const transport::MemoryRegion*& exposed) {
    transport::Interface& method = from.interface;
    if (method.limits.remote_bytes == 0)
        return fail(Status::unsupported, "{} moves messages only", method.name);
    if (slot.bytes == 0) return fail(Status::bad_argument, "the object is no memory");
    if (counts_[from.peer.get()] >= kMostLoans)
        return fail(Status::again, "the peer has {} loans already", kMostLoans);
    if (slot.attached == nullptr)
        slot.attached = std::make_shared<Exposures>(*this, from.channel->endpoint());
    auto memory = std::static_pointer_cast<Exposures>(slot.attached);
    const auto made = memory->by(method, slot.object, slot.bytes);
    if (!made) return made.failure();
    exposed = *made;
    if (!memory->ours) request::Objects::pin(slot);
    return Loan{memory->ours ? nullptr : &slot, std::move(memory), from.peer, from.channel};
}

void Lender::take_borrow(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_bulk(frame);
    if (!header) return;
    wire::LendHeader answer{false, static_cast<std::uint16_t>(Status::dead_pointer), header->call, 0};
    const transport::MemoryRegion* exposed = nullptr;
    request::Objects::Slot* const slot = objects_.enter(header->handle, header->generation, header->key);
    if (slot != nullptr) {
        auto loan = lend(from, *slot, exposed);
        answer.status = static_cast<std::uint16_t>(loan ? Status::ok : loan.status());
        if (loan) {
            answer.stays = loan->pinned == nullptr;
            answer.number = next_++;
            ++counts_[from.peer.get()];
            Lock hold(mutex_);
            loans_.emplace(answer.number, std::move(*loan));
        } else {
            log::debug("bulk", "memory is not lent: {}", loan.failure().why);
        }
    }
    // A refusal needs no words: the transfer itself, which comes as a message now, is told why.
    alignas(8) std::byte head[wire::LendHeader::kBytes];
    wire::encode(answer, head);
    const wire::View key = exposed != nullptr ? wire::View(exposed->key) : wire::View();
    (void)send_word(*from.channel, Word::answer, head, key); // else the peer is lost
    objects_.leave();
}

// The slot has the ways to pinned memory, too: they end with its binding, while the memory is there.
void Lender::come_back(Loan& loan) noexcept {
    loan.memory.reset();
    if (loan.pinned != nullptr) request::Objects::unpin(*loan.pinned);
}

void Lender::take_give_back(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header || header->call > UINT32_MAX) return;
    std::unordered_map<std::uint32_t, Loan>::node_type ended; // ends without the lock
    {
        Lock hold(mutex_);
        const auto found = loans_.find(static_cast<std::uint32_t>(header->call));
        if (found == loans_.end() || found->second.peer != from.peer) return;
        ended = loans_.extract(found);
    }
    --counts_[from.peer.get()];
    come_back(ended.mapped());
}

void Lender::recall(const Exposures& memory) noexcept {
    std::vector<std::pair<std::uint32_t, transport::Channel*>> lent;
    std::vector<std::shared_ptr<transport::Peer>> peers; // keep the objects
    {
        Lock hold(mutex_);
        for (const auto& [number, loan] : loans_) {
            if (loan.memory.get() != &memory) continue;
            lent.emplace_back(number, loan.channel);
            peers.push_back(loan.peer);
        }
    }
    for (const auto& [number, channel] : lent) {
        alignas(8) std::byte head[wire::ReplyHeader::kBytes];
        wire::encode(wire::Kind::recall, wire::ReplyHeader{0, number}, head);
        (void)send_word(*channel, Word::answer, head);
    }
}

void Lender::peer_lost(const transport::Peer& peer) {
    std::vector<Loan> ended;
    {
        Lock hold(mutex_);
        for (auto each = loans_.begin(); each != loans_.end();) {
            if (each->second.peer.get() == &peer) {
                ended.push_back(std::move(each->second));
                each = loans_.erase(each);
            } else {
                ++each;
            }
        }
    }
    counts_.erase(&peer);
    for (Loan& each : ended) come_back(each);
}

} // namespace plexus::bulk
