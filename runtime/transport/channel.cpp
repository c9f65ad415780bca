// SPDX-License-Identifier: BSD-3-Clause
#include "transport/channel.h"

#include "transport/route.h"

#include <algorithm>
#include <fmt/core.h>

namespace plexus::transport {
namespace {

using Clock = std::chrono::steady_clock;

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

Channel::Channel(Endpoint& endpoint, Peer& peer, Interface& interface, Descriptor row)
  : detail::Channel(endpoint)
  , peer_(peer)
  , interface_(interface)
  , name_(row.method)
  , limits_{smaller_limit(endpoint.options().max_message, interface.limits.max_message), 0}
  , window_(interface.fragile())
  , allowance_(peer.account, endpoint.options().retain) {
    limits_.at_once = std::min(
        {limits_.message, interface.limits.eager_bytes, interface.fragile() ? kBorrow : limits_.message});
    way_.row = std::move(row);
}

Channel::~Channel() = default;

bool Channel::serves(const Descriptor& row) {
    Lock hold(mutex_);
    Descriptor& own = way_.row;
    if (own.parameters != row.parameters) return false;
    if (!own.bytes.empty() && !row.bytes.empty()) return own.bytes == row.bytes;
    if (!share_rows(row.method, name_)) return false;
    if (own.bytes.empty()) own.bytes = row.bytes;
    return true;
}

// Sending.

bool Channel::send_at_once(wire::View frame, std::uint16_t request) {
    const plexus_view piece{frame.data(), frame.size()};
    Lock hold(mutex_);
    if (!ready_ || frame.size() > limits_.at_once || !introduced_.knows(request)) [[unlikely]]
        return false;
    if (window_.retains()) return send_retained(WholeFrame(frame));
    if (interface_.ops.send(links_.out->handle, &piece, 1, nullptr) != PLEXUS_OK) [[unlikely]]
        return false;
    window_.count_sent();
    return true;
}

Status Channel::send(Frame& frame, std::string* why) {
    {
        Lock hold(mutex_);
        const bool known =
            (frame.declare == nullptr || introduced_.knows(frame.declare->request)) && frame.carried.empty();
        if (ready_ && frame.size <= limits_.at_once && known) [[likely]] {
            if (window_.retains()) {
                if (send_retained(frame)) return Status::ok;
            } else if (interface_.ops.send(links_.out->handle, frame.views(), frame.count, nullptr) ==
                       PLEXUS_OK) [[likely]] {
                window_.count_sent();
                return Status::ok;
            }
        }
    }
    return slow_send(frame, why);
}

Status Channel::slow_send(Frame& frame, std::string* why) {
    poll::Scheduler& scheduler = endpoint_.scheduler();
    const bool inside = scheduler.inside_turn();
    Waiter waiter;
    Status outcome = Status::again;
    const auto tried = [&] {
        if (outcome != Status::again) return true; // a wait may ask more than once
        Lock hold(mutex_);
        outcome = try_send(frame, waiter, inside);
        return outcome != Status::again;
    };
    if (!tried() && !inside) {
        {
            Lock hold(mutex_);
            ++way_.waiting;
        }
        if (!scheduler.wait_for_true(tried, frame.deadline))
            outcome = Clock::now() < frame.deadline ? Status::closed : Status::timed_out;
        Lock hold(mutex_);
        --way_.waiting;
    }
    if (outcome == Status::posted) {
        const auto over = [&] { return waiter.done(); };
        // The pieces are the caller's: the caller can't leave before the module has let go of them. While
        // the scheduler is stopped the transport's destroy() ends the links on another thread.
        while (!scheduler.wait_for_true(over) && !waiter.done())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        outcome = waiter.status;
    }
    if (outcome != Status::ok && why != nullptr) *why = explain(outcome);
    return outcome;
}

Status Channel::try_send(Frame& frame, Waiter& waiter, bool inside) {
    const std::uint64_t peer_takes = peer_.max_message.load(std::memory_order_relaxed);
    if (frame.size > smaller_limit(limits_.message, peer_takes)) return Status::too_large;
    if (endpoint_.closing()) return Status::closed;
    if (way_.state == State::dead) return Status::link_lost;
    if (way_.state == State::idle) connect();
    if (inside) return queue_copy(frame); // a handler never waits
    if (!ready_ || (frame.size > kBorrow && peer_takes == 0)) return Status::again;
    introduce(frame);
    if (!ready_ && !window_.retains()) return Status::again; // the introduction waits in the queue
    // A sender with a deadline could not leave while the module reads its memory.
    if (frame.limited() && frame.size > std::min(interface_.limits.eager_bytes, kBorrow))
        return queue_copy(frame);
    return send_or_borrow(frame, waiter);
}

// For a caller that can wait. Retained frames are accepted also if the module has no room yet.
Status Channel::send_or_borrow(Frame& frame, Waiter& waiter) {
    if (!window_.retains()) {
        const auto sent = interface_.ops.send(links_.out->handle, frame.views(), frame.count, &waiter);
        if (sent == PLEXUS_OK || sent == PLEXUS_POSTED) {
            window_.count_sent();
        } else if (sent == PLEXUS_MESSAGE_LOST) { // its own affair: the next may go
            way_.last_error = "the method had no room for it, and has logged why";
        } else if (sent != PLEXUS_AGAIN && sent != PLEXUS_TOO_LARGE) {
            ready_ = false; // `lost` follows from a poll; until then nothing more goes out by the link
            return Status::again;
        }
        return static_cast<Status>(sent);
    }
    const bool borrows = frame.size > kBorrow;
    const std::uint64_t cost = borrows ? sizeof(PendingFrame) : PendingFrame::cost_of(frame);
    if (!allowance_.take(held_bytes(), cost, endpoint_.options().retain, 0)) {
        if (links_.out != nullptr) ask(*links_.out);
        return Status::again;
    }
    if (borrows) {
        auto pending = std::make_unique<PendingFrame>(&frame_ended);
        pending->pieces = frame.pieces;
        pending->count = frame.count;
        pending->size = frame.size;
        pending->stays = frame.stays;
        pending->waiter = &waiter;
        frame.head[1] |= std::byte{wire::kConfirmNow};
        append(std::move(pending));
    } else {
        append(copy_of(frame, &frame_ended));
    }
    send_queue();
    return borrows ? Status::posted : Status::ok;
}

// A small frame with nothing before it: the copy is made while the frame travels.
bool Channel::send_retained(const Frame& frame) {
    if (held_bytes() + PendingFrame::cost_of(frame) > allowance_.granted() || endpoint_.closing())
        return false;
    PendingFramePtr pending = pool_.take(&frame_ended);
    pending->make_room(frame);
    pending->owner = this;
    PendingFrame& copy = *pending;
    window_.append(std::move(pending)); // from here on nothing throws
    if (interface_.ops.send(links_.out->handle, frame.views(), frame.count, nullptr) != PLEXUS_OK) {
        pool_.release(window_.take_last(), Status::ok);
        fit_allowance();
        return false;
    }
    copy.copy(frame);
    window_.mark_sent();
    return true;
}

// For a caller that may not wait: a turn is under way.
Status Channel::queue_copy(const Frame& frame) {
    const std::uint64_t queue = endpoint_.options().handler_queue;
    const std::uint64_t room = queue + (frame.from_reserve ? std::max(queue / 2, kLeastReserve) : 0);
    // One frame of any size is taken if little else is held, else none of that size could ever be sent.
    if (!allowance_.take(held_bytes(), PendingFrame::cost_of(frame), room, queue / 16)) return Status::again;
    introduce(frame);
    append(copy_of(frame, &frame_ended));
    send_queue();
    return Status::ok;
}

void Channel::append(PendingFramePtr frame) {
    frame->owner = this;
    window_.append(std::move(frame));
    fit_allowance(); // what goes ahead of a frame was not asked for
    ready_ = false;
}

// What the frame refers to by number goes ahead of it, in the same stream.
void Channel::introduce(const Frame& frame) {
    const auto tell = [&](const wire::Bytes& bytes) PLEXUS_REQUIRES(mutex_) {
        append(copy_of(bytes, &frame_ended));
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

void Channel::send_queue() {
    Link* const out = links_.out;
    if (way_.state != State::open || out == nullptr || out->lost) return;
    send_controls(*out);
    const std::uint64_t limit =
        smaller_limit(limits_.message, peer_.max_message.load(std::memory_order_relaxed));
    while (out->controls.empty()) {
        PendingFrame* const frame = window_.next();
        if (frame == nullptr) break;
        const auto sent = frame->size > limit
                              ? PLEXUS_TOO_LARGE
                              : interface_.ops.send(out->handle, frame->views(), frame->count, frame);
        if (sent == PLEXUS_TOO_LARGE) {
            give_up(Status::too_large, "the message is larger than the way that is left takes");
            continue;
        }
        if (sent == PLEXUS_MESSAGE_LOST) { // no memory: the pause makes room, or nothing does
            if (++way_.refused > kMostRefusals) {
                give_up(Status::message_lost, "the method has no memory for the message");
                continue;
            }
            events_.retry = true;
            endpoint_.attend(*this);
            break;
        }
        if (sent != PLEXUS_OK && sent != PLEXUS_POSTED) break;
        way_.refused = 0;
        if (sent == PLEXUS_POSTED) ++frame->holders;
        if (PendingFramePtr done = window_.mark_sent()) pool_.release(std::move(done), Status::ok);
    }
    fit_allowance();
    refresh_ready();
}

void Channel::give_up(Status status, const char* why) {
    PendingFramePtr frame = window_.drop_next();
    way_.refused = 0;
    frame->outcome = status;
    events_.lost.push_back(std::move(frame));
    events_.why = why;
    endpoint_.attend(*this);
}

void Channel::send_controls(Link& link) {
    ControlQueue& queue = link.controls;
    const auto send = [&](const wire::Bytes& bytes) {
        const WholeFrame frame(bytes);
        return interface_.ops.send(link.handle, frame.views(), frame.count, nullptr) == PLEXUS_OK;
    };
    if (queue.ack) {
        if (!send(stream_frame(wire::Kind::confirm, queue.ack->stream, queue.ack->count))) return;
        queue.ack.reset();
    }
    for (; !queue.frames.empty(); queue.frames.pop())
        if (!send(queue.frames.front())) return;
    if (queue.asks) {
        if (!send(stream_frame(wire::Kind::fence, window_.stream(), window_.sent()))) return;
        queue.asks = false;
    }
    if (queue.tells_dropped) {
        const std::uint64_t dropped = peer_.dropped_answers.load(std::memory_order_relaxed);
        queue.tells_dropped = !send(stream_frame(wire::Kind::dropped, 0, dropped));
    }
}

void Channel::refresh_ready() {
    ready_ = way_.state == State::open && links_.out != nullptr && !links_.out->lost && window_.clear() &&
             links_.out->controls.empty();
}

// Called by modules, from a poll.
void Channel::frame_ended(Completion* completion, Status) {
    auto* const frame = static_cast<PendingFrame*>(completion);
    PendingFramePtr over;
    {
        Lock hold(frame->owner->mutex_);
        over = frame->owner->pool_.ended(*frame);
        frame->owner->fit_allowance();
    }
    if (over != nullptr && over->waiter != nullptr) over->waiter->settle(over->outcome);
}

Channel* Channel::successor() {
    Channel* at = this;
    while (at != nullptr && at->dead()) {
        Lock hold(at->mutex_);
        if (at->way_.state != State::dead) break; // revived
        at = at->heir_;
    }
    return at;
}

bool Channel::settle() {
    poll::Scheduler& scheduler = endpoint_.scheduler();
    for (Channel* at = this; at != nullptr;) {
        std::uint64_t goal = 0;
        {
            Lock hold(at->mutex_);
            if (at->way_.state == State::dead) {
                at = at->heir_;
                continue;
            }
            goal = at->window_.appended();
            if (at->window_.settled() >= goal) return true;
            if (at->links_.out != nullptr) at->ask(*at->links_.out);
        }
        if (scheduler.inside_turn()) return false;
        bool settled = false;
        bool dead = false;
        scheduler.wait_for_true([&] {
            Lock hold(at->mutex_);
            dead = at->way_.state == State::dead;
            settled = !dead && at->window_.settled() >= goal;
            if (!dead && !settled && at->links_.out != nullptr && at->window_.clear())
                at->ask(*at->links_.out);
            return dead || settled || endpoint_.closing();
        });
        if (settled) return true;
        if (!dead) return false;
    }
    return true; // it died and nobody took over: there is nothing to wait for
}

void Channel::tell_dropped() {
    peer_.dropped_answers.fetch_add(1, std::memory_order_relaxed);
    Lock hold(mutex_);
    if (links_.out == nullptr) return; // the next hello says it
    links_.out->controls.tells_dropped = true;
    send_controls(*links_.out);
    refresh_ready();
}

std::uint64_t Channel::query(plexus_query what) const {
    Lock hold(mutex_);
    const bool linked = links_.out != nullptr && !links_.out->lost;
    const std::uint64_t found = interface_.query(linked ? links_.out->handle : nullptr, what);
    return what == PLEXUS_QUERY_QUEUED_BYTES ? found + window_.unsent_bytes() : found; // not with it yet
}

// Links.

void Channel::connect() {
    if (way_.row.bytes.empty() && way_.came_to_us) {
        way_.state = State::awaiting;
        events_.awaits = true;
        endpoint_.attend(*this);
        return;
    }
    way_.state = State::connecting;
    Link& link =
        *links_.all.emplace_back(std::make_unique<Link>(interface_, peer_.shared_from_this(), *this));
    links_.dialing = &link;
    const plexus_view descriptor{way_.row.bytes.data(), way_.row.bytes.size()};
    plexus_id whom;
    std::memcpy(whom.bytes, peer_.id.bytes.data(), sizeof whom.bytes);
    const auto started = interface_.ops.connect(interface_.instance, descriptor, &whom, &link, &link.handle);
    if (started == PLEXUS_OK) return;
    way_.last_error =
        fmt::format("no connection could be started ({})", to_string(static_cast<Status>(started)));
    events_.failed.push_back(&link);
    endpoint_.attend(*this);
}

Link& Channel::accept(plexus_link* handle) {
    Lock hold(mutex_);
    Link& link =
        *links_.all.emplace_back(std::make_unique<Link>(interface_, peer_.shared_from_this(), *this));
    link.handle = handle;
    link.open = true;
    way_.came_to_us = true;
    return link;
}

void Channel::adopt(Link& link) {
    Lock hold(mutex_);
    if (links_.dialing == &link) links_.dialing = nullptr;
    if (links_.out != nullptr || way_.state == State::dead || way_.state == State::moving)
        return; // a second link: it only brings
    for (const auto& [key, value] : way_.row.parameters) {
        char room[512];
        plexus_text why{room, sizeof room, 0};
        if (interface_.ops.set(link.handle, key.c_str(), value.c_str(), &why) != PLEXUS_OK)
            log::warn("transport", "{}: {} = \"{}\" was not taken: {}", interface_.name, key, value,
                      std::string_view(room, why.size));
    }
    links_.out = &link;
    way_.state = State::open;
    window_.start_stream(endpoint_.next_stream());
    limits_.message =
        smaller_limit(smaller_limit(endpoint_.options().max_message, interface_.limits.max_message),
                      interface_.query(link.handle, PLEXUS_QUERY_MAX_MESSAGE));
    wire::Hello hello;
    hello.stream = window_.stream();
    hello.max_message = endpoint_.options().max_message;
    hello.memory = peer_.relation.memory;
    hello.known_memory = peer_.relation.theirs;
    hello.dropped = peer_.dropped_answers.load(std::memory_order_relaxed);
    hello.table = endpoint_.own_table()->encoded;
    link.controls.frames.push(wire::encode(hello));
    for (const ReplayRequest& request : window_.replay_requests())
        if (!request.answered)
            link.controls.frames.push(stream_frame(wire::Kind::recover, request.stream, 0));
    send_queue();
    refresh_ready();
}

void Channel::learn(const KnownTable& table) {
    Lock hold(mutex_);
    introduced_.add_table(name_of(peer_.id, table));
    if (!way_.row.bytes.empty()) return;
    const auto row = std::find_if(table.table.begin(), table.table.end(), [&](const Descriptor& each) {
        return share_rows(each.method, name_) && endpoint_.applicable(nullptr, each).applies;
    });
    if (row != table.table.end()) way_.row.bytes = row->bytes;
}

void Channel::acked(const wire::StreamFrame& ack) {
    PendingFrames done;
    Lock hold(mutex_);
    if (links_.out != nullptr && ack.stream == window_.stream())
        links_.out->controls.ack_requested = false; // answered, also if it was asked before anything had left
    if (!window_.acked(ack.stream, ack.count, done)) return;
    for (PendingFramePtr& frame : done) pool_.release(std::move(frame), Status::ok);
    fit_allowance();
    send_queue();
}

void Channel::resumed(std::uint32_t stream, std::optional<std::uint64_t> count) {
    PendingFrames done;
    PendingFrames lost;
    Lock hold(mutex_);
    window_.resumed(stream, count, done, lost);
    for (PendingFramePtr& frame : done) pool_.release(std::move(frame), Status::ok);
    for (PendingFramePtr& frame : lost) {
        frame->outcome = Status::message_lost;
        events_.why = count ? "the connection broke each time that the frame was sent"
                            : "the peer does not remember how much it had received";
        events_.lost.push_back(std::move(frame));
    }
    fit_allowance();
    // The frames leave at the end of this turn. If they ended the link at once, what the peer has sent
    // behind its answer would be lost with it; two peers that do so at the same time would make no progress.
    events_.flush = true;
    endpoint_.attend(*this);
}

void Channel::flush(Link& link) {
    Lock hold(mutex_);
    if (&link == links_.out) {
        send_queue();
    } else {
        send_controls(link);
    }
}

std::size_t Channel::control(Link& link, wire::Bytes bytes) {
    Lock hold(mutex_);
    if (link.lost) return 0;
    link.controls.frames.push(std::move(bytes));
    send_controls(link);
    refresh_ready();
    return link.controls.frames.size();
}

void Channel::send_ack(Link& link, const wire::StreamFrame& ack) {
    Lock hold(mutex_);
    if (link.lost) return;
    link.controls.ack = ack;
    send_controls(link);
    refresh_ready();
}

void Channel::ask(Link& link) {
    if (link.controls.ack_requested || link.lost) return;
    link.controls.ack_requested = true;
    link.controls.asks = true;
    send_controls(link);
    refresh_ready();
}

void Channel::request_ack(bool always) {
    Lock hold(mutex_);
    if (way_.state == State::open && links_.out != nullptr && (always || window_.unacked())) ask(*links_.out);
}

Channel::Loss Channel::link_lost(Link& link, const std::string& why) {
    Lock hold(mutex_);
    way_.last_error = why;
    const bool dialing =
        std::exchange(links_.dialing, links_.dialing == &link ? nullptr : links_.dialing) == &link;
    if (way_.state == State::dead || way_.state == State::moving) return {};
    if (links_.out != &link) {
        // A failed dial: nobody dials again before Failover has said what is to be done.
        return {dialing && way_.state == State::connecting, 0, 0};
    }
    const bool vain = link.received.count() == 0 && link.liveness.controls == 0;
    way_.in_vain = vain ? way_.in_vain + 1 : 0;
    links_.out = nullptr;
    ready_ = false;
    way_.state = State::idle;
    introduced_.clear(); // what was introduced may not have arrived
    return {true, window_.link_broke(), way_.in_vain};
}

void Channel::release(Link& link) {
    Lock hold(mutex_);
    if (std::exchange(link.released, true)) return;
    if (links_.out == &link) {
        links_.out = nullptr;
        way_.state = State::idle;
        ready_ = false;
    }
    if (link.handle != nullptr) interface_.ops.disconnect(link.handle);
}

std::unique_ptr<Link> Channel::take_out(Link& link) {
    Lock hold(mutex_);
    const auto found = std::find_if(links_.all.begin(), links_.all.end(),
                                    [&](const auto& each) { return each.get() == &link; });
    std::unique_ptr<Link> over = std::move(*found);
    links_.all.erase(found);
    std::erase(events_.failed, &link);
    return over;
}

std::vector<Link*> Channel::open_links() const {
    Lock hold(mutex_);
    std::vector<Link*> open;
    for (const auto& link : links_.all)
        if (link->open && !link->lost) open.push_back(link.get());
    return open;
}

void Channel::drop_links() {
    Lock hold(mutex_);
    links_ = {};
}

void Channel::reconnect() {
    Lock hold(mutex_);
    if (way_.state == State::idle) connect();
}

bool Channel::may_return() const {
    Lock hold(mutex_);
    const bool waits =
        way_.state == State::idle || (way_.state == State::connecting && links_.dialing == nullptr);
    return way_.state == State::awaiting || (way_.came_to_us && waits);
}

bool Channel::await_peer() {
    if (!may_return()) return false;
    Lock hold(mutex_);
    way_.state = State::awaiting;
    return true;
}

bool Channel::awaits_peer() const {
    Lock hold(mutex_);
    return way_.state == State::awaiting;
}

void Channel::redial() {
    Lock hold(mutex_);
    if (way_.state == State::awaiting && !way_.row.bytes.empty()) connect();
}

// Moving.

Backlog Channel::begin_move() {
    Lock hold(mutex_);
    ready_ = false;
    links_.out = nullptr;
    links_.dialing = nullptr;
    way_.state = State::moving;
    return window_.take_backlog();
}

void Channel::end(Channel* heir) {
    Lock hold(mutex_);
    heir_ = heir;
    way_.state = State::dead;
    fit_allowance();
    dead_.store(true, std::memory_order_release); // [dead]
}

void Channel::adopt(Backlog backlog) {
    Lock hold(mutex_);
    const auto own = [&](PendingFrames& frames) {
        for (PendingFramePtr& frame : frames) frame->owner = this;
    };
    for (ReplayRequest& request : backlog.requests) {
        own(request.frames);
        if (way_.state == State::open && links_.out != nullptr && !request.answered)
            links_.out->controls.frames.push(stream_frame(wire::Kind::recover, request.stream, 0));
    }
    own(backlog.unsent);
    window_.adopt(std::move(backlog));
    fit_allowance();
    if (way_.state == State::idle) connect();
    send_queue();
    refresh_ready();
}

void Channel::retire(PendingFrames frames, Status status) {
    Lock hold(mutex_);
    for (PendingFramePtr& frame : frames) pool_.retire(std::move(frame), status);
    fit_allowance();
}

bool Channel::revive(const Descriptor& row) {
    Channel* heir = nullptr;
    {
        Lock hold(mutex_);
        if (way_.state != State::dead || way_.row.parameters != row.parameters ||
            way_.row.method != row.method || pool_.lent_bytes() > 0)
            return false;
        heir = heir_;
    }
    if (heir != nullptr) { // the frames that it took over come first
        Lock hold(heir->mutex_);
        if (heir->window_.settled() < heir->window_.appended()) return false;
    }
    Lock hold(mutex_);
    heir_ = nullptr;
    if (!row.bytes.empty()) way_.row.bytes = row.bytes;
    way_.state = State::idle;
    way_.came_to_us = false;
    introduced_.clear();
    dead_.store(false, std::memory_order_release); // [dead]
    return true;
}

Channel::Events Channel::take_events() {
    Lock hold(mutex_);
    return std::exchange(events_, {});
}

bool Channel::has_stake() const {
    Lock hold(mutex_);
    return !window_.empty() || way_.waiting > 0;
}

bool Channel::unused() const {
    Lock hold(mutex_);
    return links_.all.empty() && window_.empty() && way_.waiting == 0 && pool_.lent_bytes() == 0 &&
           way_.state != State::awaiting;
}

bool Channel::drained(bool no_new_links) const {
    Lock hold(mutex_);
    // Without a link, and without one to come, nothing will change.
    if (way_.state == State::dead || (way_.state == State::idle && no_new_links)) return true;
    return window_.empty() &&
           (links_.out == nullptr || (links_.out->controls.empty() &&
                                      interface_.query(links_.out->handle, PLEXUS_QUERY_QUEUED_BYTES) == 0));
}

std::string Channel::explain(Status status) const {
    Lock hold(mutex_);
    switch (status) {
    case Status::too_large:
        return fmt::format("a message is larger than the {} bytes that are allowed: raise limits.max_message "
                           "on both sides, or "
                           "send it in parts",
                           smaller_limit(limits_.message, peer_.max_message.load(std::memory_order_relaxed)));
    case Status::again:
        return fmt::format(
            "a handler has sent more to context {} than limits.handler_queue allows ({} bytes)", peer_.name,
            endpoint_.options().handler_queue);
    case Status::closed:
        return "this context is closing";
    case Status::timed_out:
        return fmt::format("there was no room for a message by {} to context {} before its deadline", name_,
                           peer_.name);
    case Status::message_lost:
        return fmt::format("a message by {} to context {} was lost: it may or may not have arrived ({})",
                           name_, peer_.name, way_.last_error);
    default:
        return fmt::format("{} to context {}: {}", name_, peer_.name, way_.last_error);
    }
}

} // namespace plexus::transport
