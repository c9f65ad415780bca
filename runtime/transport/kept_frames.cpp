// SPDX-License-Identifier: BSD-3-Clause
#include "transport/kept_frames.h"

#include "transport/endpoint.h"

#include <algorithm>

namespace plexus::transport {

KeptFrames::KeptFrames(Endpoint& endpoint, Peer& peer, Channel& owner, bool retains, OnEnd on_end)
  : endpoint_(endpoint)
  , owner_(owner)
  , on_end_(on_end)
  , window_(retains)
  , allowance_(peer.account, std::min(endpoint.options().retain, endpoint.options().handler_queue)) {}

bool KeptFrames::send(const Interface& by, plexus_link* link, const Frame& frame) {
    if (held() + PendingFrame::cost_of(frame) > allowance_.granted() || endpoint_.closing()) return false;
    PendingFramePtr pending = pool_.take(on_end_);
    pending->make_room(frame);
    pending->owner = &owner_;
    PendingFrame& copy = *pending;
    window_.append(std::move(pending)); // from here on nothing throws
    if (by.ops.send(link, frame.views(), frame.count, nullptr) != PLEXUS_OK) {
        pool_.release(window_.take_last(), Status::ok);
        fit();
        return false;
    }
    copy.copy(frame);
    window_.mark_sent();
    return true;
}

bool KeptFrames::send_uncounted(const Interface& by, plexus_link* link, const wire::Bytes& bytes) {
    if (bytes.size() <= by.limits.eager_bytes) {
        const WholeFrame frame(bytes);
        return by.ops.send(link, frame.views(), frame.count, nullptr) == PLEXUS_OK;
    }
    PendingFrames copy; // the module may post it
    PendingFrame& frame = *copy.emplace_back(copy_of(bytes, on_end_));
    frame.owner = &owner_;
    const auto sent = by.ops.send(link, frame.views(), frame.count, &frame);
    if (sent == PLEXUS_POSTED) {
        ++frame.holders;
        retire(std::move(copy), Status::ok);
    }
    return sent == PLEXUS_OK || sent == PLEXUS_POSTED;
}

void KeptFrames::append_copy(const Frame& frame) {
    PendingFramePtr copy = copy_of(frame, on_end_);
    if (frame.within != nullptr) copy->asked.within = std::make_unique<const method::Boundary>(*frame.within);
    append(std::move(copy));
}

void KeptFrames::append_borrowed(const Frame& frame, Waiter& waiter) {
    auto pending = std::make_unique<PendingFrame>(on_end_);
    pending->pieces = frame.pieces;
    pending->count = frame.count;
    pending->size = frame.size;
    pending->asked.stays = frame.stays;
    pending->waiter = &waiter;
    append(std::move(pending));
}

void KeptFrames::append(PendingFramePtr frame) {
    frame->owner = &owner_;
    window_.append(std::move(frame));
    fit(); // what goes ahead of a frame was not asked for
}

void KeptFrames::mark_sent() {
    PendingFramePtr done = window_.mark_sent();
    if (done == nullptr) return;
    pool_.release(std::move(done), Status::ok);
    tidy();
}

PendingFramePtr KeptFrames::drop_next() {
    PendingFramePtr frame = window_.drop_next();
    fit();
    return frame;
}

bool KeptFrames::acked(std::uint32_t stream, std::uint64_t count) {
    PendingFrames done;
    if (!window_.acked(stream, count, done)) return false;
    release(done);
    return true;
}

PendingFrames KeptFrames::place(const Place& here, const Place& there) {
    PendingFrames beyond = window_.place(here, there);
    fit();
    return beyond;
}

PendingFrames KeptFrames::resumed(std::uint32_t stream, std::optional<std::uint64_t> count) {
    PendingFrames done;
    PendingFrames lost;
    window_.resumed(stream, count, done, lost);
    release(done);
    return lost;
}

void KeptFrames::adopt(Backlog backlog) {
    const auto own = [&](PendingFrames& frames) {
        for (PendingFramePtr& frame : frames) frame->owner = &owner_;
    };
    for (ReplayRequest& request : backlog.requests) own(request.frames);
    own(backlog.unsent);
    window_.adopt(std::move(backlog));
    fit();
}

void KeptFrames::retire(PendingFrames frames, Status status) {
    for (PendingFramePtr& frame : frames) pool_.retire(std::move(frame), status);
    tidy();
}

PendingFramePtr KeptFrames::ended(PendingFrame& frame) noexcept {
    PendingFramePtr over = pool_.ended(frame);
    fit();
    return over;
}

void KeptFrames::release(PendingFrames& frames) {
    for (PendingFramePtr& frame : frames) pool_.release(std::move(frame), Status::ok);
    tidy();
}

void KeptFrames::tidy() {
    fit();
    if (pool_.has_pins()) endpoint_.attend(owner_);
}

} // namespace plexus::transport
