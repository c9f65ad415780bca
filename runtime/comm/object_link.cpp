// SPDX-License-Identifier: BSD-3-Clause
// The other half of a communication object: links that come and go under it, confirmation,
// and replay. @thread progress, but for connect().
#include "comm/exchange.h"
#include "comm/object.h"
#include "comm/peer.h"

#include <iterator>

namespace plexus::comm {

void Object::connect() {
    state_ = State::connecting;
    Connection& connection = exchange_.new_connection(method_, peer_, *this);
    const plexus_view descriptor{row_.bytes.data(), row_.bytes.size()};
    plexus_id whom;
    std::memcpy(whom.bytes, peer_.id.bytes.data(), sizeof whom.bytes);
    const auto started =
        method_.ops.connect(method_.instance, descriptor, &whom, &connection, &connection.link);
    if (started != PLEXUS_OK) {
        last_error_ =
            fmt::format("no connection could be started ({})", to_string(static_cast<Status>(started)));
        exchange_.connect_failed(connection);
    }
}

void Object::reconnect() {
    Lock hold(mutex_);
    if (state_ == State::idle) connect();
}

void Object::adopt(Connection& connection) {
    Lock hold(mutex_);
    if (out_ != nullptr || state_ == State::dead) return; // a second link: it only brings
    for (const auto& [key, value] : row_.parameters) {
        char room[512];
        plexus_text why{room, sizeof room, 0};
        if (method_.ops.set(connection.link, key.c_str(), value.c_str(), &why) != PLEXUS_OK)
            log::warn("comm", "{}: {} = \"{}\" was not taken: {}", method_.name, key, value,
                      std::string_view(room, why.size));
    }
    out_ = &connection;
    state_ = State::open;
    stream_ = exchange_.next_stream();
    sent_ = confirmed_ = 0;
    fence_asked_ = false;
    wire::Hello hello;
    hello.stream = stream_;
    hello.table = exchange_.own_table()->encoded;
    connection.controls.push_back(wire::encode(hello));
    for (const Recovery& recovery : recoveries_) {
        wire::Bytes bytes(wire::StreamFrame::kBytes);
        wire::encode(wire::Kind::recover, wire::StreamFrame{recovery.stream, 0}, bytes.data());
        connection.controls.push_back(std::move(bytes));
    }
    send_controls(connection);
    send_line();
    refresh_ready();
}

bool Object::link_lost(Connection& connection, Status, const std::string& why) {
    Lock hold(mutex_);
    last_error_ = why;
    if ((out_ != nullptr && out_ != &connection) || state_ == State::dead) return false;
    if (out_ == nullptr) { // it never opened
        const bool awaited = state_ == State::connecting && !connection.open;
        if (awaited) state_ = State::idle;
        return awaited;
    }
    out_ = nullptr;
    ready_ = false;
    state_ = State::idle;
    if (next_ > 0) {
        Recovery recovery{stream_, confirmed_, {}};
        const auto sent_end = line_.begin() + static_cast<std::ptrdiff_t>(next_);
        recovery.parcels.assign(std::move_iterator(line_.begin()), std::move_iterator(sent_end));
        line_.erase(line_.begin(), sent_end);
        next_ = 0;
        recoveries_.push_back(std::move(recovery));
    }
    if (!method_.fragile()) { // what was introduced may not have arrived
        declared_.clear();
        tables_.clear();
    }
    return true; // answered recoveries whose frames were not sent again yet stay first in the line
}

void Object::confirmed(std::uint32_t stream, std::uint64_t count) {
    Lock hold(mutex_);
    if (stream != stream_) return;
    fence_asked_ = false; // answered, also where it was asked before anything had left
    if (count <= confirmed_ || count > sent_) return;
    confirmed_ = count;
    drop_confirmed();
    send_line();
}

void Object::drop_confirmed() {
    while (next_ > sent_ - confirmed_) {
        std::unique_ptr<Parcel> done = std::move(line_.front());
        line_.pop_front();
        --next_;
        kept_bytes_ -= done->size;
        if (!done->with_module && done->ticket == nullptr) {
            recycle(std::move(done));
        } else {
            let_go(std::move(done), Status::ok);
        }
    }
}

void Object::ask_fence() {
    if (fence_asked_ || out_ == nullptr) return;
    fence_asked_ = true;
    wire::Bytes bytes(wire::StreamFrame::kBytes);
    wire::encode(wire::Kind::fence, wire::StreamFrame{stream_, sent_}, bytes.data());
    out_->controls.push_back(std::move(bytes));
    send_controls(*out_);
    refresh_ready();
}

void Object::recovered(std::uint32_t stream, std::uint64_t count) {
    Lock hold(mutex_);
    const auto found = std::find_if(recoveries_.begin(), recoveries_.end(),
                                    [&](const Recovery& r) { return r.stream == stream; });
    if (found == recoveries_.end()) return;
    for (std::uint64_t arrived = count > found->first ? count - found->first : 0;
         arrived > 0 && !found->parcels.empty(); --arrived) {
        kept_bytes_ -= found->parcels.front()->size;
        let_go(std::move(found->parcels.front()), Status::ok);
        found->parcels.pop_front();
    }
    for (auto& parcel : found->parcels) {
        kept_bytes_ -= parcel->size;
        queued_bytes_ += parcel->size;
        replay_.push_back(std::move(parcel));
    }
    recoveries_.erase(found);
    if (!recoveries_.empty()) return;
    take_up_replay();
    send_line();
}

void Object::take_up_replay() {
    line_.insert(line_.begin() + static_cast<std::ptrdiff_t>(next_), std::move_iterator(replay_.begin()),
                 std::move_iterator(replay_.end()));
    replay_.clear();
}

void Object::flush(Connection& connection) {
    Lock hold(mutex_);
    if (&connection == out_) {
        send_line();
    } else {
        send_controls(connection);
    }
}

void Object::control(Connection& connection, wire::Bytes bytes) {
    Lock hold(mutex_);
    if (connection.lost) return;
    connection.controls.push_back(std::move(bytes));
    send_controls(connection);
    refresh_ready();
}

void Object::release(Connection& connection) {
    Lock hold(mutex_);
    if (out_ == &connection) {
        out_ = nullptr;
        state_ = State::idle;
        ready_ = false;
    }
    if (connection.link != nullptr) method_.ops.disconnect(connection.link);
}

Object::Estate Object::die() {
    Lock hold(mutex_);
    Estate estate;
    estate.recoveries = std::move(recoveries_);
    estate.replay = std::move(replay_);
    std::move(line_.begin(), line_.end(), std::back_inserter(estate.unsent));
    recoveries_.clear();
    replay_.clear();
    line_.clear();
    next_ = 0;
    kept_bytes_ = queued_bytes_ = 0;
    ready_ = false;
    out_ = nullptr;
    state_ = State::dead;
    dead_.store(true, std::memory_order_release); // [dead]
    return estate;
}

void Object::inherit(Estate estate) {
    Lock hold(mutex_);
    for (Recovery& recovery : estate.recoveries) {
        for (const auto& parcel : recovery.parcels) {
            parcel->owner = this;
            kept_bytes_ += parcel->size;
        }
        if (state_ == State::open && out_ != nullptr) {
            wire::Bytes bytes(wire::StreamFrame::kBytes);
            wire::encode(wire::Kind::recover, wire::StreamFrame{recovery.stream, 0}, bytes.data());
            out_->controls.push_back(std::move(bytes));
        }
        recoveries_.push_back(std::move(recovery));
    }
    for (auto& parcel : estate.replay) {
        parcel->owner = this;
        queued_bytes_ += parcel->size;
        replay_.push_back(std::move(parcel));
    }
    if (recoveries_.empty()) take_up_replay();
    // What was not sent at all comes after what was.
    for (auto& parcel : estate.unsent) {
        parcel->owner = this;
        queued_bytes_ += parcel->size;
        line_.push_back(std::move(parcel));
    }
    refresh_ready();
    if (state_ == State::idle) connect();
    if (state_ == State::open && out_ != nullptr) {
        send_controls(*out_);
        send_line();
    }
}

std::size_t Object::Estate::frames() const noexcept {
    std::size_t count = replay.size() + unsent.size();
    for (const Recovery& recovery : recoveries) count += recovery.parcels.size();
    return count;
}

void Object::bury(Estate estate, Status status) {
    for (Recovery& recovery : estate.recoveries)
        for (auto& parcel : recovery.parcels) let_go(std::move(parcel), status);
    for (auto& parcel : estate.replay) let_go(std::move(parcel), status);
    for (auto& parcel : estate.unsent) let_go(std::move(parcel), status);
}

bool Object::has_stake() const {
    Lock hold(mutex_);
    return !line_.empty() || !recoveries_.empty() || !replay_.empty() || waiting_ > 0;
}

bool Object::drained() const {
    Lock hold(mutex_);
    // Without a link, and without one to come, nothing will change.
    if (state_ == State::dead || (state_ == State::idle && exchange_.parted())) return true;
    return line_.empty() && recoveries_.empty() && replay_.empty() &&
           (out_ == nullptr ||
            (out_->controls.empty() && method_.query(out_->link, PLEXUS_QUERY_QUEUED_BYTES) == 0));
}

void Object::hurry() {
    Lock hold(mutex_);
    if (state_ == State::open && method_.fragile() && confirmed_ < sent_) ask_fence();
}

bool Object::ready() const {
    Lock hold(mutex_);
    return state_ != State::dead;
}

std::uint64_t Object::query(plexus_query what) const {
    Lock hold(mutex_);
    const bool linked = out_ != nullptr && !out_->lost;
    const std::uint64_t found = method_.query(linked ? out_->link : nullptr, what);
    return what == PLEXUS_QUERY_QUEUED_BYTES ? found + queued_bytes_ : found; // ours are not with it yet
}

} // namespace plexus::comm
