// SPDX-License-Identifier: BSD-3-Clause
// The sending half of a communication object: from a caller's frame to the module.
#include "comm/object.h"

#include "comm/exchange.h"
#include "comm/peer.h"
#include "comm/route.h"

#include <algorithm>
#include <fmt/core.h>

namespace plexus::comm {
namespace {

/// Frames above this size are not copied for a caller that can wait: it does, until they are
/// confirmed.
constexpr std::uint64_t kBorrow = 64 * 1024;
/// More than a receiver waits for before it confirms.
constexpr std::size_t kMostSpare = 512;

std::uint64_t smaller_limit(std::uint64_t ours, std::uint64_t modules) {
    return modules == 0 ? ours : std::min(ours, modules);
}

std::uint64_t name_of(const ContextId& owner, const KnownTable& table) {
    return std::hash<ContextId>{}(owner) ^ table.hash;
}

} // namespace

Object::Object(Exchange& exchange, Peer& peer, Method& method, Descriptor row)
  : Channel(exchange)
  , peer_(peer)
  , method_(method)
  , name_(row.method)
  , limit_(smaller_limit(exchange.options().max_message, method.max_message))
  , at_once_(std::min({limit_, method.eager_bytes, method.fragile() ? kBorrow : limit_}))
  , row_(std::move(row)) {}

bool Object::serves(const Descriptor& row) {
    Lock hold(mutex_);
    if (row_.parameters != row.parameters) return false;
    if (!row_.bytes.empty() && !row.bytes.empty()) return row_.bytes == row.bytes;
    if (!share_rows(row.method, name_)) return false;
    if (row_.bytes.empty()) row_.bytes = row.bytes;
    return true;
}

bool Object::send_at_once(wire::View frame, std::uint16_t request) {
    const plexus_view piece{frame.data(), frame.size()};
    Lock hold(mutex_);
    if (!ready_ || frame.size() > at_once_ || request >= declared_.size() || !declared_[request]) [[unlikely]]
        return false;
    if (method_.fragile()) return transmit_and_keep(WholeFrame(frame));
    if (method_.ops.send(out_->link, &piece, 1, nullptr) != PLEXUS_OK) [[unlikely]]
        return false;
    ++sent_;
    return true;
}

Status Object::send(Frame& frame, std::string* why) {
    {
        Lock hold(mutex_);
        if (ready_ && frame.size <= at_once_ && introduced(frame)) [[likely]] {
            if (method_.fragile()) {
                if (transmit_and_keep(frame)) return Status::ok;
            } else if (method_.ops.send(out_->link, frame.views(), frame.count, nullptr) == PLEXUS_OK)
                [[likely]] {
                ++sent_;
                return Status::ok;
            }
        }
    }
    return slow_send(frame, why);
}

Status Object::slow_send(Frame& frame, std::string* why) {
    poll::Scheduler& scheduler = exchange_.scheduler();
    const bool inside = scheduler.inside_turn();
    Ticket ticket;
    Status outcome = Status::again;
    const auto tried = [&] {
        if (outcome != Status::again) return true; // a wait may ask more than once
        Lock hold(mutex_);
        outcome = attempt(frame, ticket, inside);
        return outcome != Status::again;
    };
    if (!tried() && !inside) {
        {
            Lock hold(mutex_);
            ++waiting_;
        }
        if (!scheduler.wait_for_true(tried)) outcome = Status::closed;
        Lock hold(mutex_);
        --waiting_;
    }
    if (outcome == Status::posted) {
        const auto over = [&] { return ticket.done(); };
        // The pieces are the caller's: it can't leave before the module has let go of them.
        while (!scheduler.wait_for_true(over) && !ticket.done()) exchange_.pump_closing();
        outcome = ticket.status;
    }
    if (outcome != Status::ok && why != nullptr) *why = explain(outcome);
    return outcome;
}

Status Object::attempt(Frame& frame, Ticket& ticket, bool inside) {
    if (frame.size > limit_) return Status::too_large;
    if (exchange_.closing()) return Status::closed;
    if (state_ == State::idle) connect();
    if (state_ == State::dead) return Status::link_lost;
    Status status = Status::again;
    if (ready_) status = transmit(frame, ticket, inside);
    return status == Status::again && inside ? enqueue(frame) : status;
}

Status Object::transmit(Frame& frame, Ticket& ticket, bool inside) {
    introduce(frame);
    if (!ready_ && !method_.fragile()) return Status::again; // the introduction waits in the line
    if (method_.fragile()) return keep_and_transmit(frame, ticket, inside);
    if (inside && frame.size > method_.eager_bytes) return Status::again; // may not wait: goes as a copy
    const auto sent = method_.ops.send(out_->link, frame.views(), frame.count, &ticket);
    if (sent == PLEXUS_MESSAGE_LOST) { // its own affair: the next may go
        last_error_ = "the method had no room for it, and has logged why";
        return Status::message_lost;
    }
    if (sent != PLEXUS_OK && sent != PLEXUS_POSTED) {
        // A broken link is told by `lost`, from a poll; until then nothing more goes out on it.
        if (sent != PLEXUS_AGAIN) ready_ = false;
        return sent == PLEXUS_TOO_LARGE ? Status::too_large : Status::again;
    }
    ++sent_;
    return static_cast<Status>(sent);
}

// Fragile methods: a copy stays until the far side has confirmed it. Accepted is accepted, also
// where the module has no room yet.
Status Object::keep_and_transmit(Frame& frame, Ticket& ticket, bool inside) {
    const std::uint64_t held = kept_bytes_ + queued_bytes_;
    if (held > 0 && held + frame.size > exchange_.options().retain) {
        ask_fence();
        return Status::again;
    }
    std::unique_ptr<Parcel> parcel;
    const bool waits = frame.size > kBorrow && !inside;
    if (waits) {
        parcel = std::make_unique<Parcel>(&parcel_ended);
        parcel->pieces = frame.pieces;
        parcel->count = frame.count;
        parcel->size = frame.size;
        parcel->ticket = &ticket;
        frame.head[1] |= std::byte{wire::kConfirmNow};
    } else {
        parcel = copy_of(frame, &parcel_ended);
    }
    append(std::move(parcel));
    send_line();
    return waits ? Status::posted : Status::ok;
}

// The same for a small frame with nothing before it: the copy is made while it travels.
bool Object::transmit_and_keep(const Frame& frame) {
    if (kept_bytes_ + frame.size > exchange_.options().retain || exchange_.closing()) return false;
    std::unique_ptr<Parcel> parcel;
    if (spare_.empty()) {
        parcel = std::make_unique<Parcel>(&parcel_ended);
    } else {
        parcel = std::move(spare_.back());
        spare_.pop_back();
    }
    parcel->make_room(frame);
    parcel->owner = this;
    line_.push_back(std::move(parcel)); // from here on nothing throws
    if (method_.ops.send(out_->link, frame.views(), frame.count, nullptr) != PLEXUS_OK) {
        recycle(std::move(line_.back()));
        line_.pop_back();
        return false;
    }
    line_.back()->copy(frame);
    kept_bytes_ += frame.size;
    ++next_;
    ++sent_;
    return true;
}

Status Object::enqueue(const Frame& frame) {
    if (queued_bytes_ + frame.size > exchange_.options().handler_queue) return Status::again;
    introduce(frame);
    append(copy_of(frame, &parcel_ended));
    send_line();
    return Status::ok;
}

void Object::append(std::unique_ptr<Parcel> parcel) {
    parcel->owner = this;
    queued_bytes_ += parcel->size;
    line_.push_back(std::move(parcel));
    ready_ = false;
}

bool Object::introduced(const Frame& frame) const {
    const bool declared = frame.declare == nullptr ||
                          (frame.declare->request < declared_.size() && declared_[frame.declare->request]);
    return declared && frame.carried.empty();
}

// What the frame refers to by number goes ahead of it, in the same stream.
void Object::introduce(const Frame& frame) {
    if (frame.declare != nullptr) {
        const std::size_t number = frame.declare->request;
        if (number >= declared_.size()) declared_.resize(number + 1);
        if (!declared_[number]) {
            declared_[number] = true;
            append(copy_of(wire::encode(*frame.declare), &parcel_ended));
            send_line();
        }
    }
    for (const detail::Route* route : frame.carried) {
        const auto table = route->known_table();
        if (!tables_.insert(name_of(route->context(), *table)).second) continue;
        append(copy_of(wire::encode(wire::TableFrame{route->context(), table->encoded}), &parcel_ended));
        send_line();
    }
}

void Object::learn(const KnownTable& table) {
    Lock hold(mutex_);
    tables_.insert(name_of(peer_.id, table));
    if (!row_.bytes.empty()) return;
    const auto row = std::find_if(table.table.begin(), table.table.end(), [&](const Descriptor& each) {
        return share_rows(each.method, name_) && exchange_.applicable(nullptr, each).applies;
    });
    if (row != table.table.end()) row_.bytes = row->bytes;
}

void Object::send_line() {
    if (state_ != State::open || out_ == nullptr || !recoveries_.empty()) return;
    send_controls(*out_);
    while (next_ < line_.size() && out_->controls.empty()) {
        Parcel& parcel = *line_[next_];
        const auto sent = method_.ops.send(out_->link, parcel.views(), parcel.count, &parcel);
        if (sent != PLEXUS_OK && sent != PLEXUS_POSTED) break;
        ++sent_;
        parcel.with_module = sent == PLEXUS_POSTED;
        queued_bytes_ -= parcel.size;
        if (method_.fragile()) {
            kept_bytes_ += parcel.size;
            ++next_;
        } else {
            std::unique_ptr<Parcel> out = std::move(line_.front());
            line_.pop_front();
            let_go(std::move(out), Status::ok);
        }
    }
    refresh_ready();
}

void Object::send_controls(Connection& connection) {
    while (!connection.controls.empty()) {
        const wire::Bytes& bytes = connection.controls.front();
        const std::size_t head = std::min<std::size_t>(bytes.size(), PLEXUS_HEAD_MAX);
        const plexus_view pieces[2]{{bytes.data(), head}, {bytes.data() + head, bytes.size() - head}};
        if (method_.ops.send(connection.link, pieces, pieces[1].size > 0 ? 2 : 1, nullptr) != PLEXUS_OK)
            break;
        connection.controls.pop_front();
    }
}

void Object::refresh_ready() {
    ready_ = state_ == State::open && out_ != nullptr && !out_->lost && next_ == line_.size() &&
             recoveries_.empty() && out_->controls.empty();
}

// Called by modules, from a poll.
void Object::parcel_ended(Posted* posted, Status) {
    auto* parcel = static_cast<Parcel*>(posted);
    std::unique_ptr<Parcel> over;
    {
        Lock hold(parcel->owner->mutex_);
        parcel->with_module = false;
        if (parcel->dropped) over.reset(parcel);
    }
    if (over != nullptr && over->ticket != nullptr) over->ticket->settle(Status::ok);
}

void Object::recycle(std::unique_ptr<Parcel> parcel) {
    const bool plain = parcel->more == nullptr && parcel->pin == nullptr;
    if (plain && spare_.size() < kMostSpare) spare_.push_back(std::move(parcel));
}

// Nobody needs the copy any more, but the module may still be reading it.
void Object::let_go(std::unique_ptr<Parcel> parcel, Status status) {
    if (parcel->with_module) {
        parcel->dropped = true;
        parcel.release(); // parcel_ended() frees it
    } else if (parcel->ticket != nullptr) {
        parcel->ticket->settle(status);
    }
}

bool Object::settle() {
    std::uint64_t goal;
    std::uint32_t stream;
    {
        Lock hold(mutex_);
        if (state_ != State::open) return line_.empty() && recoveries_.empty();
        if (confirmed_ >= sent_ && next_ == line_.size()) return true;
        ask_fence();
        goal = sent_ + (line_.size() - next_);
        stream = stream_;
    }
    if (exchange_.scheduler().inside_turn()) return false;
    bool settled = false;
    exchange_.scheduler().wait_for_true([&] {
        Lock hold(mutex_);
        if (confirmed_ < goal && next_ == line_.size()) ask_fence(); // also for what was queued before
        settled = stream_ == stream && confirmed_ >= goal;
        return settled || stream_ != stream || state_ != State::open;
    });
    return settled;
}

std::string Object::explain(Status status) const {
    const std::string name = to_string(peer_.id).substr(0, 8);
    Lock hold(mutex_);
    switch (status) {
    case Status::too_large:
        return fmt::format("a message is larger than the {} bytes that are allowed: raise limits.max_message "
                           "on both sides, or "
                           "send it in parts",
                           limit_);
    case Status::again:
        return fmt::format(
            "a handler has sent more to context {} than limits.handler_queue allows ({} bytes)", name,
            exchange_.options().handler_queue);
    case Status::closed:
        return "this context is closing";
    case Status::message_lost:
        return fmt::format("a message by {} to context {} was lost: it may or may not have arrived ({})",
                           name_, name, last_error_);
    default:
        return fmt::format("{} to context {}: {}", name_, name, last_error_);
    }
}

} // namespace plexus::comm
