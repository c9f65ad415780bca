// SPDX-License-Identifier: BSD-3-Clause
#include "transport/outbox.h"

#include "transport/route.h"

#include <algorithm>

namespace plexus::transport {
namespace {

/// Frames above this size are not copied for a caller that can wait: the caller does, until they
/// are acknowledged. Nor are they sent before the peer has said how much it takes.
constexpr std::uint64_t kBorrow = 64 * 1024;
/// For short answers that say why there is no other: some ten thousand.
constexpr std::uint64_t kLeastReserve = 4 * 1024 * 1024;
/// So often the module may have no memory for a frame, with a pause between, before the frame is given up.
constexpr std::uint32_t kMostRefusals = 100;

std::uint64_t smaller_limit(std::uint64_t ours, std::uint64_t modules) {
    return modules == 0 ? ours : std::min(ours, modules);
}

std::uint64_t name_of(const ContextId& owner, const KnownTable& table) {
    return std::hash<ContextId>{}(owner) ^ table.hash;
}

wire::Bytes stream_frame(wire::Kind kind, std::uint32_t stream, std::uint64_t count) {
    wire::Bytes bytes(wire::StreamFrame::kBytes);
    wire::encode(kind, wire::StreamFrame{stream, count}, bytes.data());
    return bytes;
}

} // namespace

Outbox::Outbox(Channel& owner, Endpoint& endpoint, Peer& peer, Interface& interface, KeptFrames::OnEnd on_end)
  : interface_(interface)
  , limits_{smaller_limit(endpoint.options().max_message, interface.limits.max_message), 0}
  , frames_(endpoint, peer, owner, interface.fragile(), on_end)
  , owner_(owner)
  , endpoint_(endpoint)
  , peer_(peer) {
    limits_.at_once = std::min(
        {limits_.message, interface.limits.eager_bytes, interface.fragile() ? kBorrow : limits_.message});
}

std::uint64_t Outbox::most() const noexcept {
    return smaller_limit(limits_.message, peer_.max_message.load(std::memory_order_relaxed));
}

// Sending.

Status Outbox::accept(Frame& frame, Waiter& waiter, bool inside) {
    const bool heard = peer_.max_message.load(std::memory_order_relaxed) != 0;
    if (frame.within != nullptr && heard) return Status::link_lost; // the peer has spoken since the choice
    if (inside) return keep(frame, nullptr);                        // a handler never waits
    const bool large = frame.size > kBorrow;
    if (!ready_ || ((large || frame.within != nullptr) && !heard)) return Status::again;
    // A sender with a deadline could not leave while the module reads its memory.
    if (frame.limited() && frame.size > std::min(interface_.limits.eager_bytes, kBorrow))
        return keep(frame, nullptr);
    if (frames_.window().retains()) return keep(frame, &waiter);
    introduce(frame);
    return ready_ ? send_directly(frame, waiter) : Status::again; // the introduction waits in the queue
}

// By a method that keeps no copies, for a caller that can wait.
Status Outbox::send_directly(const Frame& frame, Waiter& waiter) {
    const auto sent = interface_.ops.send(out_->handle, frame.views(), frame.count, &waiter);
    switch (sent) {
    case PLEXUS_OK:
    case PLEXUS_POSTED:
        frames_.count_sent(frame.size);
        return static_cast<Status>(sent);
    case PLEXUS_AGAIN:
    case PLEXUS_TOO_LARGE:
    case PLEXUS_MESSAGE_LOST: // the frame's own affair: the next may go
        return static_cast<Status>(sent);
    default:
        ready_ = false; // `lost` follows from a poll; until then nothing more goes out by the link
        return Status::again;
    }
}

// Accepts a frame also if the module has no room yet. Without a waiter the caller may not wait.
Status Outbox::keep(Frame& frame, Waiter* waiter) {
    const EndpointOptions& options = endpoint_.options();
    const bool borrows = waiter != nullptr && frame.size > kBorrow;
    const std::uint64_t cost = borrows ? sizeof(PendingFrame) : PendingFrame::cost_of(frame);
    const std::uint64_t queue = options.handler_queue;
    const std::uint64_t reserve = frame.from_reserve ? std::max(queue / 2, kLeastReserve) : 0;
    const std::uint64_t limit = waiter != nullptr ? options.retain : queue + reserve;
    // One frame of any size is taken if little else is held, else none of that size could ever be sent.
    if (!frames_.take(cost, limit, waiter != nullptr ? 0 : queue / 16)) {
        if (waiter != nullptr) ask();
        return Status::again;
    }
    introduce(frame);
    ready_ = false;
    if (borrows) {
        frame.head[1] |= std::byte{wire::kAckNow};
        frames_.append_borrowed(frame, *waiter);
    } else {
        frames_.append_copy(frame);
    }
    send_queue();
    return borrows ? Status::posted : Status::ok;
}

// What the frame refers to by number goes ahead of it, in the same stream.
void Outbox::introduce(const Frame& frame) {
    const method::Boundary anywhere; // others may refer to it by then, so it leaves in any case
    const auto tell = [&](const wire::Bytes& bytes) {
        ready_ = false;
        WholeFrame whole(bytes);
        whole.within = frame.within != nullptr ? &anywhere : nullptr;
        frames_.append_copy(whole);
        send_queue();
    };
    if (frame.declare != nullptr && introduced_.add(frame.declare->request))
        tell(wire::encode(*frame.declare));
    for (const detail::Route* route : frame.carried) {
        const auto table = route->known_table();
        if (introduced_.add_table(name_of(route->context(), *table)))
            tell(wire::encode(wire::TableFrame{route->context(), table->encoded}));
    }
}

void Outbox::send_queue() {
    if (out_ == nullptr || out_->lost) return;
    send_controls(*out_);
    held_ = held_ && peer_.max_message.load(std::memory_order_relaxed) == 0; // its hello says both
    const auto give_up = [&](Status status, const char* why) {
        refused_ = 0;
        PendingFramePtr frame = frames_.drop_next();
        frame->outcome = status;
        events_.lost.push_back(std::move(frame));
        events_.why = why;
        endpoint_.attend(owner_);
    };
    while (!held_ && out_->controls.empty()) {
        PendingFrame* const frame = frames_.next();
        if (frame == nullptr || frame->asked.within != nullptr) break; // until placed()
        const auto sent = frame->size > most()
                              ? PLEXUS_TOO_LARGE
                              : interface_.ops.send(out_->handle, frame->views(), frame->count, frame);
        if (sent == PLEXUS_TOO_LARGE) {
            give_up(Status::too_large, "the message is larger than the way that is left takes");
            continue;
        }
        if (sent == PLEXUS_MESSAGE_LOST) { // no memory: the pause makes room, or nothing does
            if (++refused_ > kMostRefusals) {
                give_up(Status::message_lost, "the method has no memory for the message");
                continue;
            }
            events_.retry = true;
            endpoint_.attend(owner_);
            break;
        }
        if (sent != PLEXUS_OK && sent != PLEXUS_POSTED) break;
        refused_ = 0;
        if (sent == PLEXUS_POSTED) ++frame->holders;
        frames_.mark_sent();
    }
    refresh_ready();
}

void Outbox::send_controls(Link& link) {
    ControlQueue& queue = link.controls;
    const auto send = [&](const wire::Bytes& bytes) {
        return frames_.send_uncounted(interface_, link.handle, bytes);
    };
    if (queue.ack) {
        if (!send(stream_frame(wire::Kind::ack, queue.ack->stream, queue.ack->count))) return;
        queue.ack.reset();
    }
    for (; !queue.frames.empty(); queue.frames.pop())
        if (!send(queue.frames.front())) return;
    if (queue.asks) {
        const SendWindow& window = frames_.window();
        if (!send(stream_frame(wire::Kind::ack_request, window.stream(), window.sent()))) return;
        queue.asks = false;
    }
    if (!queue.tells_dropped) return;
    const DroppedCounts::Counts dropped = peer_.dropped.now();
    const auto tell = [&](wire::Dropped what, std::uint64_t count) {
        if (count == 0) return true;
        wire::Bytes frame(wire::DroppedFrame::kBytes);
        wire::encode(wire::DroppedFrame{what, dropped.memory, count}, frame.data());
        return send(frame);
    };
    queue.tells_dropped =
        !(tell(wire::Dropped::answers, dropped.answers) && tell(wire::Dropped::reports, dropped.reports));
}

void Outbox::refresh_ready() {
    ready_ = !held_ && out_ != nullptr && !out_->lost && frames_.window().clear() && out_->controls.empty();
}

// Links.

void Outbox::start(Link& link) {
    out_ = &link;
    held_ = interface_.within.limits() && peer_.max_message.load(std::memory_order_relaxed) == 0;
    frames_.start_stream(endpoint_.next_stream());
    limits_.message =
        smaller_limit(smaller_limit(endpoint_.options().max_message, interface_.limits.max_message),
                      interface_.query(link.handle, PLEXUS_QUERY_MAX_MESSAGE));
    wire::Hello hello;
    hello.stream = frames_.window().stream();
    hello.max_message = endpoint_.options().max_message;
    hello.memory = peer_.relation.memory;
    const DroppedCounts::Counts dropped = peer_.dropped.now();
    hello.known_memory = dropped.memory;
    hello.dropped = dropped.answers;
    const auto own = endpoint_.own_table();
    hello.table = own->encoded;
    link.controls.frames.push(wire::encode(hello));
    link.controls.tells_dropped = dropped.reports > 0;
    for (const ReplayRequest& request : frames_.window().replay_requests())
        if (!request.answered)
            link.controls.frames.push(stream_frame(wire::Kind::replay_request, request.stream, 0));
    send_queue();
    refresh_ready();
}

std::uint64_t Outbox::broke() {
    stop();
    introduced_.clear(); // what was introduced may not have arrived
    return frames_.link_broke();
}

void Outbox::stop() noexcept {
    out_ = nullptr;
    ready_ = false;
}

Backlog Outbox::take_backlog() {
    stop();
    introduced_.clear();
    return frames_.take_backlog();
}

void Outbox::adopt(Backlog backlog) {
    if (out_ != nullptr)
        for (const ReplayRequest& request : backlog.requests)
            if (!request.answered)
                out_->controls.frames.push(stream_frame(wire::Kind::replay_request, request.stream, 0));
    frames_.adopt(std::move(backlog));
    send_queue();
    refresh_ready();
}

// What the peer says.

void Outbox::acked(const wire::StreamFrame& ack) {
    if (out_ != nullptr && ack.stream == frames_.window().stream())
        out_->controls.ack_requested = false; // answered, also if it was asked before anything had left
    if (frames_.acked(ack.stream, ack.count)) send_queue();
}

void Outbox::resumed(std::uint32_t stream, std::optional<std::uint64_t> count) {
    for (PendingFramePtr& frame : frames_.resumed(stream, count)) {
        frame->outcome = Status::message_lost;
        events_.why = !count ? "the peer does not remember how much it had received"
                      : frame->replays >= SendWindow::kMostReplays
                          ? "the connection broke each time that the frame was sent"
                          : "the connection broke, and its pointer does not let it move to another method";
        events_.lost.push_back(std::move(frame));
    }
    // The frames leave at the end of this turn. If they ended the link at once, what the peer has sent
    // behind its answer would be lost with it; two peers that do so at the same time would make no progress.
    events_.flush = true;
    endpoint_.attend(owner_);
}

void Outbox::placed(const Place& there) {
    const Place& here = endpoint_.options().place;
    for (PendingFramePtr& frame : frames_.place(here, there)) {
        frame->outcome = Status::no_method;
        events_.why = owner_.row_name() + ": " + method::why_outside(*frame->asked.within, here, there);
        events_.lost.push_back(std::move(frame));
        endpoint_.attend(owner_);
    }
}

void Outbox::learn_table(const KnownTable& table) { introduced_.add_table(name_of(peer_.id, table)); }

// Control frames.

void Outbox::flush(Link& link) {
    if (&link == out_) {
        send_queue();
    } else {
        send_controls(link);
    }
}

std::size_t Outbox::control(Link& link, wire::Bytes bytes) {
    if (link.lost) return 0;
    link.controls.frames.push(std::move(bytes));
    send_controls(link);
    refresh_ready();
    return link.controls.frames.size();
}

void Outbox::send_ack(Link& link, const wire::StreamFrame& ack) {
    if (link.lost) return;
    link.controls.ack = ack;
    send_controls(link);
    refresh_ready();
}

void Outbox::ask() {
    if (out_ == nullptr || out_->controls.ack_requested || out_->lost) return;
    out_->controls.ack_requested = true;
    out_->controls.asks = true;
    send_controls(*out_);
    refresh_ready();
}

void Outbox::tell_dropped() {
    if (out_ == nullptr || out_->lost) return; // start() says it on the next link
    out_->controls.tells_dropped = true;
    send_controls(*out_);
    refresh_ready();
}

// What is asked of it.

bool Outbox::drained() const {
    if (!frames_.window().empty()) return false;
    return out_ == nullptr ||
           (out_->controls.empty() && interface_.query(out_->handle, PLEXUS_QUERY_QUEUED_BYTES) == 0);
}

} // namespace plexus::transport
