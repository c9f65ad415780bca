// SPDX-License-Identifier: BSD-3-Clause
// The sending half of a link.
#include "libfabric/link.h"

#include "common/values.h"
#include "libfabric/module.h"

#include <cstring>
#include <rdma/fi_errno.h>

namespace plexus::libfabric {
namespace {

std::uint64_t size_of(const plexus_view* pieces, std::uint32_t count) {
    std::uint64_t size = 0;
    for (std::uint32_t i = 0; i < count; ++i) size += pieces[i].size;
    return size;
}

constexpr std::size_t kMostOffers = 64; // large messages of one link on their way

} // namespace

Link::Link(Module& m, Port& p, void* c, const plexus_id& who, Descriptor there)
  : module(m)
  , port(p)
  , cookie(c)
  , peer(who)
  , target(std::move(there)) {}

bool Link::is_ordered(Kind kind) const noexcept {
    return kind == Kind::message || kind == Kind::large || kind == Kind::part || kind == Kind::bye;
}

bool Link::may_post() const {
    const auto under_way =
        static_cast<std::uint16_t>(sent_ - acknowledged_.load(std::memory_order_relaxed)); // [acknowledged]
    return unsaid_.empty() && under_way < window;
}

int Link::post(Kind kind, const plexus_view* pieces, std::uint32_t count, std::size_t size, bool tracked) {
    const std::uint16_t taken = taken_.load(std::memory_order_relaxed); // [taken]
    const bool counted = is_ordered(kind) && kind != Kind::bye;
    bool completes = false;
    const int error = port.send(at, *this, {peer_token, peer_slot, kind, number_, taken}, pieces, count, size,
                                tracked, completes);
    if (error != 0) return error;
    told_.store(taken, std::memory_order_relaxed);
    if (completes) sends_in_flight_.fetch_add(1, std::memory_order_relaxed);
    if (is_ordered(kind)) ++number_;
    if (counted) ++sent_;
    return 0;
}

std::int32_t Link::result_of(int error) {
    if (passes(error)) {
        stalled = true;
        module.note_wish(*this);
        return PLEXUS_AGAIN;
    }
    if (!broken) {
        broken = true;
        why_broken = "a message could not be sent: " + text_of_error(error);
        module.note_broken(*this);
    }
    return PLEXUS_LINK_LOST;
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* sent_token) {
    const std::uint64_t size = size_of(pieces, count);
    if (size > SIZE_MAX / 2) return PLEXUS_TOO_LARGE;
    if (size > port.eager() && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    if (module.closing()) return PLEXUS_LINK_LOST;
    {
        const module::Lock hold(port.mutex());
        if (state == State::connecting) {
            module.note_wish(*this);
            return PLEXUS_AGAIN;
        }
        if (state != State::open || broken) return PLEXUS_LINK_LOST;
        if (parts_ != nullptr || !may_post()) {
            module.note_wish(*this);
            return PLEXUS_AGAIN;
        }
        if (size > port.eager()) return send_large(pieces, count, size, sent_token);
        const int error = post(Kind::message, pieces, count, static_cast<std::size_t>(size), false);
        if (error != 0) return result_of(error);
    }
    page.ring();
    return PLEXUS_OK;
}

std::int32_t Link::send_large(const plexus_view* pieces, std::uint32_t count, std::uint64_t size,
                              void* sent_token) {
    if (offers_.size() >= kMostOffers) {
        module.note_wish(*this);
        return PLEXUS_AGAIN;
    }
    LargeNote note;
    note.head_size = pieces[0].size;
    if (note.head_size > 0) std::memcpy(note.head.data(), pieces[0].data, note.head_size);
    note.rest = size - note.head_size;
    note.id = next_offer_;

    // Its peer reads it, if it can: on a host of its own, or with our page to tell it whether the
    // memory is still what it was.
    Offer offer;
    bool readable = port.fetches() && (!port.remembers_no_revocation() || peer_rings);
    for (std::uint32_t i = 1; i < count && readable; ++i) {
        if (pieces[i].size == 0) continue;
        readable = note.count < LargeNote::kMostStretches &&
                   port.offer(pieces[i], offer.memory.emplace_back(), note.stretches[note.count]) == 0;
        ++note.count;
    }
    if (!readable) note.count = 0;
    note.revision = module.page().revision(slot);

    std::array<std::byte, LargeNote::kMostBytes> body;
    const std::size_t bytes = note.write(body.data());
    const plexus_view view{body.data(), bytes};
    const int error = post(Kind::large, &view, 1, bytes, false);
    if (error != 0) return result_of(error);
    queued_.fetch_add(readable ? size : note.rest, std::memory_order_relaxed);
    if (readable) {
        offer.id = next_offer_++;
        offer.token = sent_token;
        offer.bytes = size;
        offers_.push_back(std::move(offer));
    } else {
        parts_ = std::make_unique<Parts>();
        parts_->pieces.assign(pieces + 1, pieces + count);
        parts_->left = note.rest;
        parts_->token = sent_token;
        module.note_carrying(*this);
    }
    page.ring();
    return PLEXUS_POSTED;
}

// As many parts as there is room for. The pieces are given back with the last one.
bool Link::push_parts(std::vector<void*>& over) {
    bool went = false;
    while (parts_ != nullptr && may_post()) {
        // Cut so that one part is one copy: pieces are gathered up to the size of a buffer.
        std::array<plexus_view, 16> views;
        std::uint32_t count = 0;
        std::size_t size = 0;
        std::size_t next = parts_->next;
        std::size_t skipped = 0; // of the piece at `next`
        while (next < parts_->pieces.size() && count < views.size() && size < port.eager()) {
            const plexus_view& piece = parts_->pieces[next];
            const std::size_t here = std::min(piece.size, port.eager() - size);
            views[count++] = {piece.data, here};
            size += here;
            if (here < piece.size) {
                skipped = here;
                break;
            }
            ++next;
        }
        const int error = post(Kind::part, views.data(), count, size, false);
        if (passes(error)) break;
        if (error != 0) {
            (void)result_of(error);
            break;
        }
        went = true;
        parts_->next = next;
        if (skipped > 0) {
            plexus_view& piece = parts_->pieces[next];
            piece = {static_cast<const std::byte*>(piece.data) + skipped, piece.size - skipped};
        }
        parts_->left -= size;
        queued_.fetch_sub(size, std::memory_order_relaxed);
        if (parts_->left > 0) continue;
        over.push_back(parts_->token);
        parts_.reset();
    }
    return went;
}

bool Link::carry_on(bool& done) {
    fetch_more();
    std::vector<void*> over;
    bool went = false;
    {
        const module::Lock hold(port.mutex());
        while (!unsaid_.empty() && !broken) {
            const auto& [kind, body] = unsaid_.front();
            const plexus_view view{body.data(), body.size()};
            const int error = post(kind, &view, 1, body.size(), kind == Kind::bye);
            if (passes(error)) break;
            if (error != 0) {
                (void)result_of(error);
                break;
            }
            unsaid_.pop_front();
            went = true;
        }
        if (!broken) went = push_parts(over) || went;
        done = broken || (parts_ == nullptr && unsaid_.empty() && !unread_);
        if (done) wants_carrying = false;
    }
    if (went) page.ring();
    for (void* const each : over) module.host().sent(cookie, each, PLEXUS_OK);
    return went;
}

bool Link::say(Kind kind, const Bytes& body) {
    {
        const module::Lock hold(port.mutex());
        const plexus_view view{body.data(), body.size()};
        const int error = unsaid_.empty() ? post(kind, &view, 1, body.size(), kind == Kind::bye) : -FI_EAGAIN;
        if (passes(error)) {
            if (kind == Kind::credit && !unsaid_.empty()) return false; // what waits carries the same
            unsaid_.emplace_back(kind, body);
            module.note_carrying(*this);
            return false;
        }
        if (error != 0) {
            (void)result_of(error);
            return false;
        }
    }
    page.ring();
    return true;
}

bool Link::has_room(bool retry) {
    const module::Lock hold(port.mutex());
    if (state == State::connecting) return false;
    const bool lost = state != State::open || broken;
    if (!lost && (parts_ != nullptr || !may_post() || (stalled && !retry))) return false;
    wishes = stalled = false;
    return true;
}

bool Link::idle() const {
    const module::Lock hold(port.mutex());
    return broken || (offers_.empty() && parts_ == nullptr && unsaid_.empty() &&
                      sends_in_flight_.load(std::memory_order_relaxed) == 0);
}

// A read that the provider has can't be called back. Either it is over within a moment, or
// the endpoint is given up: nothing is written to the host's memory after this.
void Link::disconnect() {
    constexpr auto kMoment = std::chrono::milliseconds(5);
    given_up_.store(true, std::memory_order_relaxed);
    {
        const module::Lock hold(port.mutex()); // [in flight]
    }
    if (in_flight_.load(std::memory_order_relaxed) > 0) {
        const auto until = Clock::now() + kMoment;
        while (!port.is_shut() && port.fetches_over(*this) < in_flight_.load(std::memory_order_relaxed))
            if (Clock::now() > until) port.shut();
    }
    module.give_up(*this);
}

bool Link::hurries() const {
    const module::Lock hold(port.mutex());
    return stalled;
}

std::uint32_t Link::row() const { return module.row_of(port); }

std::int32_t Link::set(const char* key, const char*, plexus_text& reason) const {
    return module::set_at_open_only(module.host(), key, reason);
}

} // namespace plexus::libfabric
