// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of a link: what arrives, in its order. @thread progress
#include "libfabric/link.h"
#include "libfabric/module.h"

namespace plexus::libfabric {

// The peer is through with messages of ours.
void Link::acknowledge(std::uint16_t taken) {
    const std::uint16_t before = acknowledged_.load(std::memory_order_relaxed);
    if (taken == before) return;
    // It can't be through with more than what was sent; what a liar gains is his own window.
    acknowledged_.store(taken, std::memory_order_relaxed); // [acknowledged]
}

bool Link::arrived(const Header& header, Buffer& buffer) {
    heard = module.now();
    asked = false;
    acknowledge(header.taken);
    const ByteView body(buffer.data + kHeaderBytes, buffer.size - kHeaderBytes);
    if (!is_ordered(header.kind)) {
        if (header.kind == Kind::fetched) peer_fetched(body);
        if (header.kind == Kind::ping) (void)say(Kind::credit);
        return false;
    }
    if (module.draining()) { // the host takes nothing any more
        farewell = farewell || header.kind == Kind::bye;
        return false;
    }
    if (header.number != expected_) {
        lose(PLEXUS_LINK_LOST,
             "messages were lost or came out of order on their way through " + port.address().provider);
        return false;
    }
    ++expected_;
    if (landing_ != nullptr && (landing_->fetched || header.kind != Kind::part)) {
        held_.emplace_back(header.kind, &buffer);
        return true;
    }
    take(header.kind, body);
    return false;
}

void Link::take(Kind kind, ByteView body) {
    switch (kind) {
    case Kind::message:
        if (!given_up()) module.host().deliver(cookie, {body.data(), body.size()});
        count_taken();
        return;
    case Kind::large:
        return begin_large(body);
    case Kind::part:
        return take_part(body);
    case Kind::bye:
        farewell = true;
        return lose(PLEXUS_LINK_LOST, "the peer closed the connection");
    default:
        return;
    }
}

// Tells the peer now and then, if nothing goes there that would say it by itself.
void Link::count_taken() {
    const auto taken = static_cast<std::uint16_t>(taken_.load(std::memory_order_relaxed) + 1);
    taken_.store(taken, std::memory_order_relaxed); // [taken]
    const auto untold = static_cast<std::uint16_t>(taken - told_.load(std::memory_order_relaxed));
    if (untold >= std::max(module.options().window / 2, 1)) (void)say(Kind::credit);
}

void Link::begin_large(ByteView body) {
    const auto note = LargeNote::read(body);
    if (!note || note->rest == 0)
        return lose(PLEXUS_LINK_LOST, "the peer announced a message that makes no sense");
    auto coming = std::make_unique<Landing>();
    coming->note = *note;
    coming->fetched = note->count > 0;
    void* where = nullptr;
    const bool taken = !given_up() && module.host().place(cookie, {note->head.data(), note->head_size},
                                                          static_cast<std::size_t>(note->rest), &where,
                                                          &coming->token) == PLEXUS_OK;
    if (taken) coming->where = static_cast<std::byte*>(where);
    landing_ = std::move(coming);
    if (!landing_->fetched) return;
    if (!taken) {
        landing_->landed = note->rest;
        return finish_landing();
    }
    int error = 0;
    {
        const module::Lock hold(port.mutex());
        error = port.prepare(landing_->where, static_cast<std::size_t>(note->rest), landing_->memory,
                             landing_->handle);
    }
    if (error == 0) {
        fetch_more();
        return;
    }
    lose(PLEXUS_LINK_LOST, "memory for a message could not be registered: " + text_of_error(error));
}

void Link::take_part(ByteView body) {
    if (landing_ == nullptr || landing_->fetched || body.size() > landing_->note.rest - landing_->landed)
        return lose(PLEXUS_LINK_LOST, "the peer sent a part of no message");
    if (landing_->where != nullptr && !body.empty()) {
        // disconnect takes the lock after it has said that it gives up: nothing is written then.
        const module::Lock hold(port.mutex());
        if (!given_up()) std::memcpy(landing_->where + landing_->landed, body.data(), body.size());
    }
    landing_->landed += body.size();
    if (landing_->landed == landing_->note.rest) finish_landing();
    count_taken();
}

// Everything of a large message is there, or dropped.
void Link::finish_landing() {
    const std::unique_ptr<Landing> over = std::move(landing_);
    {
        const module::Lock hold(port.mutex());
        over->memory.reset();
    }
    const bool stale = over->fetched && over->where != nullptr && page.is_open() &&
                       page.revision(peer_slot) != over->note.revision;
    if (over->where != nullptr && !given_up())
        module.host().placed(cookie, over->token, stale ? PLEXUS_MESSAGE_LOST : PLEXUS_OK);
    if (stale) return lose(PLEXUS_LINK_LOST, "the peer gave a message up while it was read");
    if (over->fetched) {
        Bytes id;
        put(id, over->note.id, 4);
        (void)say(Kind::fetched, id);
    }
    count_taken();
    take_held();
}

void Link::take_held() {
    while (!held_.empty() && !module.draining() && state != State::failing && state != State::over) {
        const auto [kind, buffer] = held_.front();
        if (landing_ != nullptr && (landing_->fetched || kind != Kind::part)) return;
        held_.pop_front();
        take(kind, ByteView(buffer->data + kHeaderBytes, buffer->size - kHeaderBytes));
        port.recycle(*buffer);
    }
}

void Link::peer_fetched(ByteView body) {
    Reader in(body);
    const auto id = static_cast<std::uint32_t>(in.number(4));
    void* over = nullptr;
    Offer offer;
    {
        const module::Lock hold(port.mutex());
        if (!in.at_end() || offers_.empty() || offers_.front().id != id) return; // it reads them in order
        offer = std::move(offers_.front());
        offers_.pop_front();
        offer.memory.clear();
        queued_.fetch_sub(offer.bytes, std::memory_order_relaxed);
        over = offer.token;
    }
    module.host().sent(cookie, over, PLEXUS_OK);
}

} // namespace plexus::libfabric
