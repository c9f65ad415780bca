// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/sender.h"

#include "message_link/engine.h"

#include <cstring>

namespace plexus::message_link {
namespace {

constexpr std::size_t kMostLarge = 64; // large messages of one link on their way

} // namespace

bool Sender::has_most_large() const noexcept { return offers_.size() + posted_ >= kMostLarge; }

bool Sender::may_post() const { return unsaid_.empty() && link_.credit.may_send(); }

Header Sender::header(Kind kind) const { return {far.token, far.slot, kind, number_, link_.credit.taken()}; }

void Sender::count(const Header& header) {
    link_.credit.told(header.taken);
    if (is_ordered(header.kind)) ++number_;
    if (is_counted(header.kind)) link_.credit.count_sent();
}

Outcome Sender::post(Kind kind, const plexus_view* pieces, std::uint32_t count_of, std::size_t size) {
    const Header head = header(kind);
    const Outcome outcome = link_.port.send(*link_.peer(), head, pieces, count_of, size, why_);
    if (outcome == PLEXUS_OK) count(head);
    return outcome;
}

std::int32_t Sender::result_of(Outcome outcome) {
    if (outcome == PLEXUS_OK || outcome == PLEXUS_POSTED) return outcome;
    if (outcome == PLEXUS_AGAIN) {
        stalled_ = true;
        want_room();
        return PLEXUS_AGAIN;
    }
    fail("a message could not be sent: " + why_);
    return PLEXUS_LINK_LOST;
}

void Sender::want_room() {
    if (!std::exchange(wants_room_, true)) link_.engine.note(Note::What::want_room, link_);
}

void Sender::fail(std::string why) {
    if (std::exchange(broken_, true)) return;
    why_ = std::move(why);
    link_.engine.note(Note::What::broken, link_);
}

std::int32_t Sender::send(const plexus_view* pieces, std::uint32_t count_of, std::uint64_t size,
                          void* token) {
    if (broken_) return PLEXUS_LINK_LOST;
    const bool large = size > link_.port.traits().eager;
    const bool crowded = large && has_most_large();
    if (parts_ != nullptr || !may_post() || crowded) {
        crowded_ = crowded_ || crowded;
        want_room();
        return PLEXUS_AGAIN;
    }
    if (!large) return result_of(post(Kind::message, pieces, count_of, static_cast<std::size_t>(size)));
    return link_.port.carrying() != nullptr ? send_carried(pieces, count_of, size, token)
                                            : send_announced(pieces, count_of, size, token);
}

std::int32_t Sender::send_carried(const plexus_view* pieces, std::uint32_t count_of, std::uint64_t size,
                                  void* token) {
    const Header head = header(Kind::carried);
    const Outcome outcome = link_.port.carrying()->carry(*link_.peer(), head, pieces, count_of,
                                                         size - pieces[0].size, token, why_);
    if (outcome != PLEXUS_OK && outcome != PLEXUS_POSTED) return result_of(outcome);
    count(head);
    if (outcome == PLEXUS_POSTED) count_posted(size);
    return outcome;
}

std::int32_t Sender::send_announced(const plexus_view* pieces, std::uint32_t count_of, std::uint64_t size,
                                    void* token) {
    Announcement note;
    note.head_size = pieces[0].size;
    if (note.head_size > 0) std::memcpy(note.head.data(), pieces[0].data, note.head_size);
    note.rest = size - note.head_size;
    note.id = next_offer_;

    Offer offer;
    Fetching* const fetching = link_.port.fetching();
    bool readable = fetching != nullptr && fetching->may_offer(*link_.peer());
    for (std::uint32_t i = 1; i < count_of && readable; ++i) {
        if (pieces[i].size == 0) continue;
        readable = note.count < Announcement::kMostStretches &&
                   fetching->offer(pieces[i], offer.memory.emplace_back(), note.stretches[note.count]);
        ++note.count;
    }
    if (!readable) note.count = 0;
    if (fetching != nullptr) note.revision = fetching->revision(link_.mine.slot);

    std::array<std::byte, Announcement::kMostBytes> body;
    const std::size_t bytes = note.write(body.data());
    const plexus_view view{body.data(), bytes};
    const Outcome outcome = post(Kind::announced, &view, 1, bytes);
    if (outcome != PLEXUS_OK) return result_of(outcome);
    queued_ += readable ? size : note.rest;
    if (readable) {
        offer.id = next_offer_++;
        offer.token = token;
        offer.bytes = size;
        offers_.push_back(std::move(offer));
    } else {
        parts_ = std::make_unique<Parts>();
        parts_->pieces.assign(pieces + 1, pieces + count_of);
        parts_->left = note.rest;
        parts_->token = token;
        link_.engine.note_carrying(link_);
    }
    return PLEXUS_POSTED;
}

// One part is one copy: pieces are gathered up to the size of a buffer.
bool Sender::push_part() {
    const std::size_t eager = link_.port.traits().eager;
    std::array<plexus_view, 16> views;
    std::uint32_t count_of = 0;
    std::size_t size = 0;
    std::size_t next = parts_->next;
    std::size_t skipped = 0; // of the piece at `next`
    while (next < parts_->pieces.size() && count_of < views.size() && size < eager) {
        const plexus_view& piece = parts_->pieces[next];
        const std::size_t here = std::min(piece.size, eager - size);
        views[count_of++] = {piece.data, here};
        size += here;
        if (here < piece.size) {
            skipped = here;
            break;
        }
        ++next;
    }
    const Outcome outcome = post(Kind::part, views.data(), count_of, size);
    if (outcome == PLEXUS_AGAIN) return false;
    if (outcome != PLEXUS_OK) {
        (void)result_of(outcome);
        return false;
    }
    parts_->next = next;
    if (skipped > 0) {
        plexus_view& piece = parts_->pieces[next];
        piece = {static_cast<const std::byte*>(piece.data) + skipped, piece.size - skipped};
    }
    parts_->left -= size;
    queued_ -= size;
    return true;
}

// As many parts as there is room for. The pieces are given back with the last one.
bool Sender::push_parts(std::vector<void*>& over) {
    bool went = false;
    while (parts_ != nullptr && may_post() && push_part()) {
        went = true;
        if (parts_->left > 0) continue;
        over.push_back(parts_->token);
        parts_.reset();
    }
    return went;
}

bool Sender::carry_on(std::vector<void*>& over) {
    bool went = false;
    while (!unsaid_.empty() && !broken_) {
        const auto& [kind, body] = unsaid_.front();
        const plexus_view view{body.data(), body.size()};
        const Outcome outcome = post(kind, &view, 1, body.size());
        if (outcome == PLEXUS_AGAIN) break;
        if (outcome != PLEXUS_OK) {
            (void)result_of(outcome);
            break;
        }
        unsaid_.pop_front();
        went = true;
    }
    if (!broken_) went = push_parts(over) || went;
    return went;
}

void Sender::say(Kind kind, const Bytes& body) {
    const plexus_view view{body.data(), body.size()};
    const Outcome outcome = unsaid_.empty() ? post(kind, &view, 1, body.size()) : PLEXUS_AGAIN;
    if (outcome == PLEXUS_AGAIN) {
        if (kind == Kind::credit && !unsaid_.empty()) return; // what waits carries the same
        unsaid_.emplace_back(kind, body);
        link_.engine.note_carrying(link_);
    } else if (outcome != PLEXUS_OK) {
        (void)result_of(outcome);
    }
}

bool Sender::has_room(bool retry) const {
    return broken_ || (parts_ == nullptr && may_post() && (!crowded_ || !has_most_large()) &&
                       (!stalled_ || link_.port.has_room(*link_.peer(), retry)));
}

void* Sender::fetched(std::uint32_t id) {
    if (offers_.empty() || offers_.front().id != id) return nullptr; // it reads them in order
    void* const token = offers_.front().token;
    queued_ -= offers_.front().bytes;
    offers_.pop_front();
    return token;
}

void Sender::count_posted(std::uint64_t bytes) noexcept {
    ++posted_;
    queued_ += bytes;
}

void Sender::post_is_over(std::uint64_t bytes) noexcept {
    --posted_;
    queued_ -= bytes;
}

bool Sender::is_idle() const {
    return broken_ || (offers_.empty() && parts_ == nullptr && unsaid_.empty() && posted_ == 0 &&
                       !link_.port.is_sending(*link_.peer()));
}

std::vector<void*> Sender::give_up() {
    std::vector<void*> tokens;
    Fetching* const fetching = link_.port.fetching();
    if (!offers_.empty() && fetching != nullptr) fetching->revise(link_.mine.slot);
    for (const Offer& offer : offers_) {
        tokens.push_back(offer.token);
        queued_ -= offer.bytes;
    }
    offers_.clear();
    if (parts_ != nullptr) {
        tokens.push_back(parts_->token);
        queued_ -= parts_->left;
        parts_.reset();
    }
    return tokens;
}

std::uint64_t Sender::queued_bytes() const {
    return queued_ + (link_.peer() != nullptr ? link_.port.queued_bytes(*link_.peer()) : 0);
}

} // namespace plexus::message_link
