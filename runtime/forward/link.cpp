// SPDX-License-Identifier: BSD-3-Clause
#include "forward/link.h"

#include "base/log.h"
#include "forward/hub.h"
#include "forward/module.h"
#include "forward/via.h"

#include <algorithm>
#include <cstring>

namespace plexus::forward {
namespace {

/// A link that was given up still sends what it had accepted for so long.
constexpr auto kLinger = std::chrono::seconds(1);
constexpr std::size_t kMostHandled = 64; // hops of one link in a turn

std::span<const std::uint8_t> record(wire::View bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}
wire::View view(const std::vector<std::uint8_t>& bytes) { return std::as_bytes(std::span(bytes)); }

} // namespace

Link::Link(Module& owner, wire::View row, const plexus_id& peer, void* cookie)
  : owner_(owner)
  , asked_{{row.begin(), row.end()}, {}}
  , state_(State::wanted)
  , cookie_(cookie)
  , far_(id_of(peer))
  , handshake_(module::Handshake::connecting(owner.host(), peer, owner.max_message()))
  , receiver_(owner.host(), owner.max_message()) {}

Link::Link(Module& owner, const LinkName& from, std::uint64_t window, std::uint32_t row)
  : owner_(owner)
  , name_(from)
  , state_(State::answering)
  , row_(row)
  , handshake_(module::Handshake::accepting(owner.host(), owner.max_message()))
  , receiver_(owner.host(), owner.max_message())
  , window_(window) {}

void Link::disconnect() {
    receiver_.give_up();
    owner_.owe(*this, &given_up_); // the leader may free it at once
}

std::int32_t Link::set(const char* key, const char*, plexus_text& why) {
    module::write(why, "the method has no parameter of a link");
    return std::strcmp(key, "via") == 0 ? PLEXUS_UNSUPPORTED : PLEXUS_BAD_ARGUMENT;
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    const std::int32_t status = sender_.offer(pieces, count, token);
    if (status == PLEXUS_OK || status == PLEXUS_POSTED) owner_.owe(*this);
    return status;
}

// What waits for room on the way to the forwarder has not left either.
std::uint64_t Link::queued() const noexcept { return sender_.queued() + (owner_.hub().waits() ? 1 : 0); }

// The window, and as much again for what has none: records and credit. A piece that nothing waits before is
// put where it belongs; the host is not called in here.
void Link::take(const LinkName& from, const Hop& hop) {
    if (state_ == State::open && !given_up_ && inbox_.hops.empty() && receiver_.store(hop)) {
        give_credit(hop.cost());
        owner_.owe(*this);
        return;
    }
    inbox_.bytes += hop.cost();
    if (hop.kind != Kind::close && inbox_.bytes > 2 * std::max(window_, kLeastWindow)) {
        constexpr const char* kWhy = "more came on a relayed link than its window holds";
        owner_.hub().unbind(from);
        owner_.hub().say_close(from, Status::link_lost, kWhy);
        return cut(from, kWhy);
    }
    inbox_.hops.push_back({hop.kind, hop.number, wire::Bytes(hop.bytes.begin(), hop.bytes.end())});
    if (hop.kind == Kind::close) name_.neighbour = nullptr;
    owner_.owe(*this);
}

void Link::cut(const LinkName&, const std::string& why) {
    name_.neighbour = nullptr;
    const wire::View bytes = std::as_bytes(std::span(why));
    inbox_.bytes += bytes.size() + kHopCost;
    inbox_.hops.push_back({Kind::close, PLEXUS_LINK_LOST, wire::Bytes(bytes.begin(), bytes.end())});
    owner_.owe(*this);
}

bool Link::turn(std::int32_t& handled) {
    if (state_ == State::wanted && !given_up_) ask();
    if (state_ == State::open && !given_up_ && receiver_.finish(cookie_)) ++handled;
    for (std::size_t i = 0; i < kMostHandled && !inbox_.hops.empty() && state_ != State::over; ++i) {
        const Waiting first = std::move(inbox_.hops.front());
        inbox_.hops.pop_front();
        inbox_.bytes -= first.bytes.size() + kHopCost;
        ++handled;
        process({first.kind, first.number, first.bytes});
    }
    if (state_ == State::open) pump(handled);
    if (!inbox_.hops.empty() && state_ != State::over) owner_.owe(*this);
    if (state_ != State::over && (given_up_ || due_ != Clock::time_point::max())) look_at_clock();
    return state_ == State::over && (given_up_ || cookie_ == nullptr);
}

void Link::look_at_clock() {
    const auto now = Clock::now();
    if (given_up_) {
        if (due_ == Clock::time_point::max()) set_due(now + kLinger);
        const bool unsent = state_ == State::open && sender_.waits();
        if (!unsent || now >= due_) return refuse(PLEXUS_LINK_LOST, "the far end has given the link up");
    }
    if ((state_ == State::opening || state_ == State::answering) && now >= due_)
        refuse(PLEXUS_LINK_LOST, "no answer came from the other end of the forwarded way in time");
}

void Link::set_due(Clock::time_point when) { owner_.set_due(*this, std::exchange(due_, when), when); }

void Link::say(const Hop& hop) {
    if (name_.neighbour != nullptr) owner_.hub().say(name_, hop);
}

void Link::ask() {
    const auto via = decode(asked_.row);
    Neighbour* const by = via ? owner_.hub().reach(*via, far_) : nullptr;
    if (by == nullptr)
        return end(PLEXUS_LINK_LOST, via ? "forwarder " + via->text() +
                                               " is not reached: explain() says by which of its rows, and "
                                               "the log why it was lost"
                                         : via.failure().why);
    asked_.by = by->id();
    name_ = {by, by->next_number(), true};
    owner_.hub().bind(name_, *this);
    state_ = State::opening;
    set_due(Clock::now() + kOpening);
    wire::Bytes bytes;
    wire::Builder out(bytes);
    out.raw(far_.bytes.data(), far_.bytes.size());
    out.u8(via->instance);
    const auto hello = handshake_.take_outgoing();
    out.raw(hello.data(), hello.size());
    say({Kind::open, UINT64_MAX, bytes});
}

void Link::answer(wire::View hello) {
    owner_.hub().bind(name_, *this);
    set_due(Clock::now() + kOpening);
    const std::int32_t status =
        hello.size() == handshake_.wanted_bytes() ? handshake_.feed(record(hello)) : PLEXUS_BAD_ARGUMENT;
    const auto outgoing = handshake_.take_outgoing();
    if (!outgoing.empty()) say({Kind::opened, window_, view(outgoing)});
    if (status != PLEXUS_AGAIN) refuse(PLEXUS_LINK_LOST, "the far end does not take the link");
}

void Link::process(const Hop& hop) {
    switch (hop.kind) {
    case Kind::opened:
        return begin(hop);
    case Kind::confirm:
        return admit(hop);
    case Kind::data:
    case Kind::more:
        return receive(hop);
    case Kind::credit:
        if (state_ != State::open || !sender_.credit(hop.number))
            refuse(PLEXUS_LINK_LOST, "the far end has taken more than was sent");
        return;
    case Kind::close:
        return end(PLEXUS_LINK_LOST,
                   std::string(reinterpret_cast<const char*>(hop.bytes.data()), hop.bytes.size()));
    case Kind::open:
        break;
    }
    refuse(PLEXUS_LINK_LOST, "a hop of no known kind came on a relayed link");
}

// The answer to what ask() has sent.
void Link::begin(const Hop& hop) {
    const bool due = state_ == State::opening && hop.bytes.size() == handshake_.wanted_bytes();
    const std::int32_t status = due ? handshake_.feed(record(hop.bytes)) : PLEXUS_BAD_ARGUMENT;
    if (status != PLEXUS_OK || hop.number < kLeastWindow) {
        const bool known = status == PLEXUS_DENIED || status == PLEXUS_WRONG_PEER;
        return refuse(
            known ? status : PLEXUS_LINK_LOST,
            "the far end of the forwarded way is not the context that is meant, or speaks otherwise");
    }
    window_ = hop.number;
    state_ = State::open;
    set_due(Clock::time_point::max());
    say({Kind::confirm, 0, view(handshake_.take_outgoing())});
    sender_.open(window_);
    if (!given_up_) owner_.host().opened(cookie_);
}

void Link::admit(const Hop& hop) {
    const bool due = state_ == State::answering && hop.bytes.size() == handshake_.wanted_bytes();
    if (!due || handshake_.feed(record(hop.bytes)) != PLEXUS_OK)
        return refuse(PLEXUS_DENIED, "whoever asked for the link has not proved to hold the job's key");
    state_ = State::open;
    set_due(Clock::time_point::max());
    sender_.open(window_);
    const plexus_id peer = handshake_.peer();
    far_ = id_of(peer);
    void* cookie = nullptr;
    const plexus_host& host = owner_.host();
    if (host.accepted(host.self, handle(), &peer, &cookie) != PLEXUS_OK)
        return refuse(PLEXUS_LINK_LOST, "the far end does not take the link");
    cookie_ = cookie;
}

void Link::receive(const Hop& hop) {
    if (state_ != State::open) return refuse(PLEXUS_LINK_LOST, "data came before the link was open");
    if (!given_up_ && !receiver_.take(cookie_, hop))
        return refuse(PLEXUS_LINK_LOST, "a piece that came does not belong to the message under way");
    if (state_ == State::open) give_credit(hop.cost());
}

void Link::give_credit(std::uint64_t bytes) {
    owed_credit_ += bytes;
    if (owed_credit_ < window_ / 4) return;
    say({Kind::credit, std::exchange(owed_credit_, 0), {}});
}

void Link::pump(std::int32_t& handled) {
    Sender::Piece piece;
    while (name_.neighbour != nullptr && sender_.next(piece)) {
        say(piece.hop);
        sender_.taken(piece);
        ++handled;
        if (piece.last && piece.posted) owner_.host().sent(cookie_, piece.token, PLEXUS_OK);
    }
    if (!given_up_ && sender_.owes_writable()) owner_.host().writable(cookie_);
}

void Link::refuse(std::int32_t status, const std::string& why) {
    if (name_.neighbour != nullptr) owner_.hub().say_close(name_, Status::link_lost, why);
    end(status, why);
}

void Link::end(std::int32_t status, const std::string& why) {
    if (state_ == State::over) return;
    if ((state_ == State::wanted || state_ == State::opening) && !given_up_)
        if (const auto row = decode(asked_.row)) owner_.hub().doubt(*row, far_, asked_.by);
    state_ = State::over;
    set_due(Clock::time_point::max());
    if (name_.neighbour != nullptr) owner_.hub().unbind(name_);
    name_.neighbour = nullptr;
    drain();
    if (!given_up_ && cookie_ != nullptr) owner_.host().lost(cookie_, status, module::view(why));
    if (given_up_ || cookie_ == nullptr) owner_.owe(*this); // to be freed
}

void Link::drain() {
    for (void* const token : sender_.abandon()) owner_.host().sent(cookie_, token, PLEXUS_LINK_LOST);
    receiver_.end(cookie_);
}

} // namespace plexus::forward
