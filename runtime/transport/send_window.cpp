// SPDX-License-Identifier: BSD-3-Clause
#include "transport/send_window.h"

#include <algorithm>
#include <iterator>

namespace plexus::transport {
namespace {

void append_to(PendingFrames& to, PendingFrames& from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
    from.clear();
}

std::uint64_t cost_of(const PendingFrames& frames) noexcept {
    std::uint64_t bytes = 0;
    for (const PendingFramePtr& frame : frames) bytes += frame->cost();
    return bytes;
}

} // namespace

std::size_t Backlog::frames() const noexcept {
    std::size_t count = unsent.size();
    for (const ReplayRequest& request : requests) count += request.frames.size();
    return count;
}

PendingFramePtr SendWindow::release(PendingFramePtr frame) noexcept {
    held_bytes_ -= frame->cost();
    return frame;
}

void SendWindow::append(PendingFramePtr frame) {
    const std::uint64_t cost = frame->cost();
    queue_.push_back(std::move(frame));
    held_bytes_ += cost;
}

PendingFrame* SendWindow::next() noexcept {
    return requests_.empty() && next_ < queue_.size() ? queue_[next_].get() : nullptr;
}

PendingFramePtr SendWindow::mark_sent() {
    count_sent(queue_[next_]->size);
    if (retains_) {
        ++next_;
        return nullptr;
    }
    PendingFramePtr frame = std::move(queue_.front());
    queue_.pop_front();
    return release(std::move(frame));
}

PendingFramePtr SendWindow::drop_next() {
    const auto at = queue_.begin() + static_cast<std::ptrdiff_t>(next_);
    PendingFramePtr frame = std::move(*at);
    queue_.erase(at);
    ++settled_;
    return release(std::move(frame));
}

PendingFrames SendWindow::place(const Place& here, const Place& there) {
    PendingFrames beyond;
    PendingFrames kept;
    for (PendingFramePtr& frame : queue_) {
        const auto& within = frame->asked.within;
        const bool ends = within != nullptr && !method::why_outside(*within, here, there).empty();
        if (ends) {
            ++settled_;
            frame = release(std::move(frame));
        } else {
            frame->asked.within = nullptr;
        }
        (ends ? beyond : kept).push_back(std::move(frame));
    }
    queue_.swap(kept);
    return beyond;
}

PendingFramePtr SendWindow::take_last() {
    PendingFramePtr frame = std::move(queue_.back());
    queue_.pop_back();
    return release(std::move(frame));
}

bool SendWindow::acked(std::uint32_t stream, std::uint64_t count, PendingFrames& done) {
    if (stream != stream_ || count <= acked_ || count > sent_) return false;
    settled_ += count - acked_;
    acked_ = count;
    while (next_ > sent_ - acked_) {
        done.push_back(release(std::move(queue_.front())));
        queue_.pop_front();
        --next_;
    }
    return true;
}

void SendWindow::start_stream(std::uint32_t stream) noexcept {
    stream_ = stream;
    past_.messages += sent_;
    sent_ = acked_ = 0;
}

std::uint64_t SendWindow::link_broke() {
    const std::uint64_t unknown = retains_ ? 0 : sent_ - acked_;
    settled_ += unknown;
    if (next_ > 0) {
        const auto sent_end = queue_.begin() + static_cast<std::ptrdiff_t>(next_);
        ReplayRequest& request = requests_.emplace_back();
        request.stream = stream_;
        request.acked = acked_;
        request.frames.assign(std::move_iterator(queue_.begin()), std::move_iterator(sent_end));
        queue_.erase(queue_.begin(), sent_end);
        next_ = 0;
    }
    stream_ = 0;
    past_.messages += sent_;
    sent_ = acked_ = 0;
    return unknown;
}

void SendWindow::resumed(std::uint32_t stream, std::optional<std::uint64_t> count, PendingFrames& done,
                         PendingFrames& lost) {
    const auto request = std::find_if(requests_.begin(), requests_.end(), [&](const ReplayRequest& each) {
        return each.stream == stream && !each.answered;
    });
    if (request == requests_.end()) return;
    request->answered = true;
    PendingFrames& frames = request->frames;
    const auto take_first = [&] {
        PendingFramePtr frame = release(std::move(frames.front()));
        frames.pop_front();
        ++settled_;
        return frame;
    };
    if (count) {
        for (std::uint64_t at = request->acked; at < *count && !frames.empty(); ++at)
            done.push_back(take_first());
        if (request->moved) take_staying(frames, lost);
        if (!frames.empty() && ++frames.front()->replays >= kMostReplays) lost.push_back(take_first());
    } else {
        while (!frames.empty()) lost.push_back(take_first());
    }
    replay_if_all_answered();
}

void SendWindow::take_staying(PendingFrames& from, PendingFrames& lost) {
    PendingFrames kept;
    for (PendingFramePtr& frame : from) {
        const bool stays = frame->asked.stays;
        settled_ += stays ? 1 : 0;
        (stays ? lost : kept).push_back(stays ? release(std::move(frame)) : std::move(frame));
    }
    from.swap(kept);
}

void SendWindow::replay_if_all_answered() {
    if (!std::all_of(requests_.begin(), requests_.end(), [](const auto& each) { return each.answered; }))
        return;
    PendingFrames replay;
    for (ReplayRequest& request : requests_) append_to(replay, request.frames);
    requests_.clear();
    queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(next_), std::move_iterator(replay.begin()),
                  std::move_iterator(replay.end()));
}

Backlog SendWindow::take_backlog() {
    link_broke();
    settled_ += open_frames();
    Backlog backlog{std::move(requests_), std::move(queue_)};
    requests_.clear();
    queue_.clear();
    held_bytes_ = 0;
    return backlog;
}

void SendWindow::adopt(Backlog backlog) {
    for (ReplayRequest& request : backlog.requests) {
        held_bytes_ += cost_of(request.frames);
        request.moved = true;
        requests_.push_back(std::move(request));
    }
    held_bytes_ += cost_of(backlog.unsent);
    replay_if_all_answered();
    append_to(queue_, backlog.unsent); // what was never sent comes after what was
}

std::uint64_t SendWindow::unsent_bytes() const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t at = next_; at < queue_.size(); ++at) bytes += queue_[at]->size;
    return bytes;
}

std::uint64_t SendWindow::open_frames() const noexcept {
    std::uint64_t open = queue_.size();
    for (const ReplayRequest& request : requests_) open += request.frames.size();
    if (!retains_) open += sent_ - acked_;
    return open;
}

} // namespace plexus::transport
