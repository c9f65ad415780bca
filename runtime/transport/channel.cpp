// SPDX-License-Identifier: BSD-3-Clause
#include "transport/channel.h"

#include "base/trace.h"
#include "transport/reach.h"

#include <algorithm>
#include <fmt/core.h>

namespace plexus::transport {
namespace {

using Clock = std::chrono::steady_clock;

// Called by modules, from a poll.
void frame_ended(Completion* completion, Status) {
    auto* const frame = static_cast<PendingFrame*>(completion);
    const PendingFramePtr over =
        frame->owner->on_outbox([&](Outbox& outbox) { return outbox.frames().ended(*frame); });
    if (over != nullptr && over->waiter != nullptr) over->waiter->settle(over->outcome);
}

} // namespace

Channel::Channel(Endpoint& endpoint, Peer& peer, Interface& interface, Descriptor row)
  : detail::Channel(endpoint)
  , peer_(peer)
  , interface_(interface)
  , name_(row.method)
  , outbox_(*this, endpoint, peer, interface, &frame_ended) {
    way_.row = std::move(row);
}

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
    Lock hold(mutex_);
    if (!outbox_.send_at_once(frame, request)) [[unlikely]]
        return false;
    PLEXUS_TRACE3(send, peer_.short_id.c_str(), name_.c_str(), frame.size());
    return true;
}

Status Channel::send(Frame& frame, std::string* why) {
    {
        Lock hold(mutex_);
        if (outbox_.send_now(frame)) [[likely]] {
            PLEXUS_TRACE3(send, peer_.short_id.c_str(), name_.c_str(), frame.size);
            return Status::ok;
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
    if (outcome == Status::ok) PLEXUS_TRACE3(send, peer_.short_id.c_str(), name_.c_str(), frame.size);
    if (outcome != Status::ok && why != nullptr) *why = explain(outcome);
    return outcome;
}

Status Channel::try_send(Frame& frame, Waiter& waiter, bool inside) {
    if (frame.size > outbox_.most()) return Status::too_large;
    if (endpoint_.closing() && !frame.onward) return Status::closed;
    if (way_.state == State::dead) return Status::link_lost;
    if (way_.state == State::idle) connect();
    const Status accepted = outbox_.accept(frame, waiter, inside);
    if (accepted == Status::message_lost)
        way_.last_error = "the method had no room for it, and has logged why";
    return accepted;
}

Channel* Channel::successor() {
    Channel* at = this;
    while (at != nullptr && at->dead()) {
        Lock hold(at->mutex_);
        if (at->way_.state != State::dead) break; // revived
        at = at->successor_;
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
                at = at->successor_;
                continue;
            }
            const SendWindow& window = at->outbox_.frames().window();
            goal = window.appended();
            if (window.settled() >= goal) return true;
            at->outbox_.ask();
        }
        if (scheduler.inside_turn()) return false;
        bool settled = false;
        bool dead = false;
        scheduler.wait_for_true([&] {
            Lock hold(at->mutex_);
            const SendWindow& window = at->outbox_.frames().window();
            dead = at->way_.state == State::dead;
            settled = !dead && window.settled() >= goal;
            if (!dead && !settled && window.clear()) at->outbox_.ask();
            return dead || settled || endpoint_.closing();
        });
        if (settled) return true;
        if (!dead) return false;
    }
    return true; // it died and nobody took over: there is nothing to wait for
}

// Links.

void Channel::connect() {
    if (way_.row.bytes.empty() && way_.came_to_us) {
        way_.state = State::awaiting;
        outbox_.events().awaits = true;
        endpoint_.attend(*this);
        return;
    }
    way_.state = State::connecting;
    Link& link = *links_.emplace_back(std::make_unique<Link>(interface_, peer_.shared_from_this(), *this));
    dialing_ = &link;
    const plexus_view descriptor{way_.row.bytes.data(), way_.row.bytes.size()};
    plexus_id whom;
    std::memcpy(whom.bytes, peer_.id.bytes.data(), sizeof whom.bytes);
    const auto started = interface_.ops.connect(interface_.instance, descriptor, &whom, &link, &link.handle);
    if (started == PLEXUS_OK) return;
    way_.last_error =
        fmt::format("no connection could be started ({})", to_string(static_cast<Status>(started)));
    outbox_.events().failed.push_back(&link);
    endpoint_.attend(*this);
}

Link& Channel::accept(plexus_link* handle) {
    Lock hold(mutex_);
    Link& link = *links_.emplace_back(std::make_unique<Link>(interface_, peer_.shared_from_this(), *this));
    link.handle = handle;
    link.open = true;
    way_.came_to_us = true;
    return link;
}

void Channel::adopt(Link& link) {
    Lock hold(mutex_);
    if (dialing_ == &link) dialing_ = nullptr;
    if (outbox_.out() != nullptr || way_.state == State::dead || way_.state == State::moving)
        return; // a second link: it only brings
    for (const auto& [key, value] : way_.row.parameters) {
        char room[512];
        plexus_text why{room, sizeof room, 0};
        if (interface_.ops.set(link.handle, key.c_str(), value.c_str(), &why) != PLEXUS_OK)
            log::warn("transport", "{}: {} = \"{}\" was not taken: {}", interface_.name, key, value,
                      std::string_view(room, why.size));
    }
    way_.state = State::open;
    outbox_.start(link);
}

void Channel::learn(const KnownTable& table) {
    Lock hold(mutex_);
    outbox_.learn_table(table);
    if (!way_.row.bytes.empty()) return;
    const auto row = std::find_if(table.table.begin(), table.table.end(), [&](const Descriptor& each) {
        return share_rows(each.method, name_) &&
               applicable(endpoint_, nullptr, each, table.table.place()).applies;
    });
    if (row != table.table.end()) way_.row.bytes = row->bytes;
}

Channel::Loss Channel::link_lost(Link& link, const std::string& why) {
    Lock hold(mutex_);
    way_.last_error = why;
    const bool dialed = dialing_ == &link;
    if (dialed) dialing_ = nullptr;
    if (way_.state == State::dead || way_.state == State::moving) return {};
    if (outbox_.out() != &link) {
        // A failed dial: nobody dials again before Failover has said what is to be done.
        return {dialed && way_.state == State::connecting, 0, 0};
    }
    const bool vain = link.received.count() == 0 && link.liveness.signs == 0;
    way_.in_vain = vain ? way_.in_vain + 1 : 0;
    way_.state = State::idle;
    return {true, outbox_.broke(), way_.in_vain};
}

void Channel::release(Link& link) {
    Lock hold(mutex_);
    if (std::exchange(link.released, true)) return;
    if (outbox_.out() == &link) {
        outbox_.stop();
        way_.state = State::idle;
    }
    if (link.handle != nullptr) interface_.ops.disconnect(link.handle);
}

std::vector<std::unique_ptr<Link>> Channel::take_out(const Link* link) {
    Lock hold(mutex_);
    const auto out = std::stable_partition(links_.begin(), links_.end(), [&](const auto& each) {
        return link != nullptr && each.get() != link;
    });
    std::vector<std::unique_ptr<Link>> taken;
    std::move(out, links_.end(), std::back_inserter(taken));
    links_.erase(out, links_.end());
    for (const auto& each : taken) {
        received_ += each->received.traffic();
        std::erase(outbox_.events().failed, each.get());
    }
    return taken;
}

BothWays Channel::traffic() const {
    Lock hold(mutex_);
    BothWays all{outbox_.frames().window().traffic(), received_};
    for (const auto& link : links_) all.received += link->received.traffic();
    return all;
}

std::vector<Link*> Channel::open_links() const {
    Lock hold(mutex_);
    std::vector<Link*> open;
    for (const auto& link : links_)
        if (link->open && !link->lost) open.push_back(link.get());
    return open;
}

void Channel::reconnect() {
    Lock hold(mutex_);
    if (way_.state == State::idle || (way_.state == State::awaiting && !way_.row.bytes.empty())) connect();
}

void Channel::await_peer() {
    Lock hold(mutex_);
    way_.state = State::awaiting;
}

// Moving.

Backlog Channel::begin_move() {
    Lock hold(mutex_);
    dialing_ = nullptr;
    way_.state = State::moving;
    return outbox_.take_backlog();
}

void Channel::end(Channel* next) {
    Lock hold(mutex_);
    successor_ = next;
    way_.state = State::dead;
    outbox_.frames().fit();
    dead_.store(true, std::memory_order_release); // [dead]
}

void Channel::adopt(Backlog backlog) {
    Lock hold(mutex_);
    outbox_.adopt(std::move(backlog));
    if (way_.state == State::idle) connect();
}

bool Channel::revive(const Descriptor& row) {
    Channel* next = nullptr;
    {
        Lock hold(mutex_);
        if (way_.state != State::dead || way_.row.parameters != row.parameters ||
            way_.row.method != row.method || outbox_.frames().module_reads())
            return false;
        next = successor_;
    }
    while (next != nullptr) { // the frames that it took over, or that were taken over from it, come first
        Channel& at = *next;
        Lock hold(at.mutex_);
        const SendWindow& window = at.outbox_.frames().window();
        if (window.settled() < window.appended()) return false;
        next = at.way_.state == State::dead ? at.successor_ : nullptr;
    }
    Lock hold(mutex_);
    successor_ = nullptr;
    if (!row.bytes.empty()) way_.row.bytes = row.bytes;
    way_.state = State::idle;
    way_.came_to_us = false;
    dead_.store(false, std::memory_order_release); // [dead]
    return true;
}

// What is asked of it.

Channel::Condition Channel::condition() const {
    Lock hold(mutex_);
    const bool dialable =
        way_.state == State::idle || (way_.state == State::connecting && dialing_ == nullptr);
    Condition now;
    now.over = way_.state == State::dead;
    now.idle = way_.state == State::idle;
    now.awaits = way_.state == State::awaiting;
    now.leads = now.awaits || way_.state == State::open || dialing_ != nullptr;
    now.may_return = now.awaits || (way_.came_to_us && dialable);
    now.at_stake = !outbox_.frames().window().empty() || way_.waiting > 0;
    now.unused = links_.empty() && !now.at_stake && !outbox_.frames().module_reads() && !now.awaits;
    return now;
}

std::string Channel::explain(Status status) const {
    Lock hold(mutex_);
    switch (status) {
    case Status::too_large:
        return fmt::format("a message is larger than the {} bytes that are allowed: raise limits.max_message "
                           "on both sides, or "
                           "send it in parts",
                           outbox_.most());
    case Status::again:
        return fmt::format("what handlers have sent to {}, and has not left yet, has as much memory as "
                           "limits.handler_queue allows ({} bytes): send less from one handler, send from "
                           "outside of handlers, where senders wait, or raise the limit",
                           peer_.text(), endpoint_.options().handler_queue);
    case Status::closed:
        return "this context is closing";
    case Status::timed_out:
        return fmt::format("there was no room for a message by {} to {} before its deadline", name_,
                           peer_.text());
    case Status::message_lost:
        return fmt::format("a message by {} to {} was lost: it may or may not have arrived ({})", name_,
                           peer_.text(), way_.last_error);
    default:
        return fmt::format("{} to {}: {}", name_, peer_.text(), way_.last_error);
    }
}

std::uint64_t query(Channel& channel, plexus_query what) {
    return channel.on_outbox([&](Outbox& outbox) {
        const bool linked = outbox.out() != nullptr && !outbox.out()->lost;
        const std::uint64_t found = channel.interface().query(linked ? outbox.out()->handle : nullptr, what);
        return what == PLEXUS_QUERY_QUEUED_BYTES ? found + outbox.frames().window().unsent_bytes() : found;
    });
}

} // namespace plexus::transport
