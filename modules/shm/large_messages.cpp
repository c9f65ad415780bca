// SPDX-License-Identifier: BSD-3-Clause
#include "shm/large_messages.h"

#include "base/nontemporal_copy.h"
#include "common/pieces.h"
#include "shm/gather.h"

#include <cstring>

namespace plexus::shm {

namespace {

void copy_whole(std::byte* to, const Message& message, Copy copy) {
    if (copy == Copy::cached) {
        module::copy_pieces(to, {message.pieces, message.count});
        return;
    }
    for (std::uint32_t i = 0; i < message.count; ++i) {
        copy_nontemporal(to, static_cast<const std::byte*>(message.pieces[i].data), message.pieces[i].size);
        to += message.pieces[i].size;
    }
    fence_nontemporal();
}

} // namespace

LargeMessages::LargeMessages(Gate& gate, RecordWriter& records, Totals& totals, std::uint64_t area_bytes)
  : gate_(gate)
  , records_(records)
  , totals_(totals)
  , area_(totals, area_bytes) {}

void LargeMessages::attach(Direction& out, int socket) {
    const Lock hold(mutex_);
    out_ = &out;
    area_.attach(out, socket);
    stream_.attach(out);
}

CopyChoice::Pick LargeMessages::choose(const Message& message, CopySet allowed) {
    const Lock hold(mutex_);
    return next_pick(message, allowed, true);
}

CopyChoice::Pick LargeMessages::next_pick(const Message& message, CopySet allowed, bool may_measure) {
    if (!allowed.several()) return {allowed.first(), false, 0};
    if (meter_ == nullptr) meter_ = std::make_unique<CopyMeter>(*out_, area_.size());
    return meter_->next(message.size, allowed, may_measure);
}

std::uint32_t LargeMessages::begin_sample(const Message& message, const CopyChoice::Pick& pick, bool behind) {
    return pick.trial == 0 ? 0 : meter_->begin(message.size, pick, behind); // 0: there was no choice
}

std::byte* LargeMessages::reserve(std::size_t body_bytes, Wants& wants) {
    std::byte* const body = records_.reserve(body_bytes);
    if (body == nullptr) wants.consumed = records_.roomy_at();
    return body;
}

std::int32_t LargeMessages::send_in_area(const Message& message, CopySet allowed, Wants& wants) {
    const Lock hold(mutex_);
    if (const std::int32_t status = area_.make(); status != PLEXUS_OK) return status;
    std::byte* const body = reserve(sizeof(AreaBody), wants);
    if (body == nullptr) return PLEXUS_AGAIN;
    // The first copy to a page takes several times as long, by any strategy.
    const CopyChoice::Pick choice = next_pick(message, allowed, area_.parts().is_populated());
    const bool behind = choice.measure && area_.held() > 0;
    auto part = area_.take(message.size);
    if (!part) {
        wants.released = area_.parts().roomy_at(message.size);
        return PLEXUS_AGAIN;
    }
    part->sample = begin_sample(message, choice, behind);
    std::chrono::steady_clock::time_point start;
    if (choice.measure) start = std::chrono::steady_clock::now();
    copy_whole(area_.parts().at(*part), message, choice.copy);
    if (choice.measure)
        meter_->copied(static_cast<std::uint32_t>(part->sample), std::chrono::steady_clock::now() - start);
    std::memcpy(body, &*part, sizeof *part);
    records_.publish(Kind::area, sizeof *part);
    return PLEXUS_OK;
}

std::int32_t LargeMessages::post(const Message& message, const CopyChoice::Pick& pick, PostedSends& posted,
                                 Wants& wants) {
    const Lock hold(mutex_); // abandon() waits: a post is counted before it, or refused after it
    if (gate_.is_broken()) return PLEXUS_LINK_LOST;
    if (posted.is_full()) {
        wants.ended = posted.pushed() - PostedSends::kMost + 1;
        return PLEXUS_AGAIN;
    }
    FetchHead head{};
    head.pieces = message.count - 1;
    const std::size_t body_size = sizeof head + head.pieces * sizeof(FetchPiece);
    std::byte* const body = reserve(body_size, wants);
    if (body == nullptr) return PLEXUS_AGAIN;
    head.head_size = static_cast<std::uint32_t>(message.head_size());
    head.rest = message.rest();
    head.sample = begin_sample(message, pick, false);
    copy_small(head.head, message.pieces[0].data, head.head_size);
    std::memcpy(body, &head, sizeof head);
    for (std::uint32_t i = 0; i < head.pieces; ++i) {
        const plexus_view& piece = message.pieces[i + 1];
        const FetchPiece there{reinterpret_cast<std::uintptr_t>(piece.data), piece.size};
        std::memcpy(body + sizeof head + i * sizeof there, &there, sizeof there);
    }
    posted.push(message.token, message.size, message.pieces + 1, head.pieces); // before the peer can answer
    records_.publish(Kind::fetch, static_cast<std::uint32_t>(body_size));
    return PLEXUS_POSTED;
}

std::int32_t LargeMessages::begin_stream(const Message& message, const CopyChoice::Pick& pick, Wants& wants,
                                         bool& streaming) {
    const auto start = Stream::Clock::now();
    const Lock hold(mutex_);
    if (gate_.is_broken()) return PLEXUS_LINK_LOST;
    if (const std::int32_t status = area_.make(); status != PLEXUS_OK) return status;
    StreamHead head{};
    std::byte* const body = reserve(sizeof head, wants);
    if (body == nullptr) return PLEXUS_AGAIN;
    head.head_size = static_cast<std::uint32_t>(message.head_size());
    head.rest = message.rest();
    head.sample = begin_sample(message, pick, true); // both ends copy at once
    copy_small(head.head, message.pieces[0].data, head.head_size);
    std::memcpy(body, &head, sizeof head);
    records_.publish(Kind::stream, sizeof head);

    stream_.begin(message, pick.copy, head.sample, start);
    if (go_on() == Stream::Go::done) return PLEXUS_OK;
    gate_.begin_stream();
    streaming = true;
    return PLEXUS_POSTED;
}

Stream::Go LargeMessages::go_on() {
    const Stream::Go go = stream_.go_on(records_, area_);
    if (go == Stream::Go::done && stream_.sample() != 0) meter_->copied(stream_.sample(), stream_.copying());
    return go;
}

Stream::Go LargeMessages::carry_on(void*& token) {
    if (is_stuck()) return Stream::Go::stuck; // before a sleep Sender::has_news asks to be told of more
    const Lock hold(mutex_);
    const Stream::Go go = go_on();
    if (go != Stream::Go::done) return go;
    token = stream_.token();
    totals_.note(stream_.size(), Stream::Clock::now() - stream_.start());
    gate_.end_stream(); // [gate]
    return go;
}

std::vector<void*> LargeMessages::abandon(PostedSends& posted) {
    std::vector<void*> lost;
    const Lock hold(mutex_);
    gate_.break_off();
    while (!posted.is_empty()) lost.push_back(posted.pop());
    if (gate_.is_streaming()) {
        lost.push_back(stream_.token());
        stream_.drop();
        gate_.end_stream();
    }
    return lost;
}

void LargeMessages::discard_idle_area() {
    if (area_bytes() == 0) return;
    const Lock hold(mutex_);
    if (!gate_.is_streaming()) area_.discard_if_idle();
}

CopyChoice::AllLearned LargeMessages::learned() const {
    CopyChoice::AllLearned now{};
    bool is_free = false;
    if (mutex_.try_lock()) {
        if (meter_ != nullptr) now = meter_->learned();
        mutex_.unlock();
        is_free = true;
    }
    const Lock hold(told_.mutex);
    if (is_free) told_.all = now;
    return told_.all;
}

} // namespace plexus::shm
