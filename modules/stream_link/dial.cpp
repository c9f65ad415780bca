// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/dial.h"

#include "plexus/module/handshake.h"
#include "stream_link/addresses.h"
#include "stream_link/link.h"
#include "stream_link/module.h"
#include "stream_link/socket.h"

#include <algorithm>
#include <cerrno>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utility>

namespace plexus::stream_link {
namespace {

// How long an address may be quiet before the next address is tried as well (RFC 8305 says 250 ms
// for the open internet; hosts that compute together are nearer).
constexpr auto kStagger = std::chrono::milliseconds(100);

// How often addresses are tried again after the peer has closed a connection without an answer, all addresses
// together.
constexpr int kMostRetries = 8;

std::vector<asio::ip::tcp::endpoint> in_order(Module& module, const Descriptor& target) {
    std::vector<asio::ip::tcp::endpoint> out;
    for (const auto& address : nearest_first(module.reachable(target), module.interfaces()))
        out.emplace_back(address, target.port);
    return out;
}

// True if the peer's kernel has acknowledged the greeting. If the connection then ends in order, the peer had
// read the whole greeting: with unread bytes the kernel would reset the connection.
bool greeting_was_taken(int socket) {
    int unconfirmed = 0;
    return ::ioctl(socket, SIOCOUTQ, &unconfirmed) == 0 && unconfirmed == 0;
}

} // namespace

Attempt::Attempt(Dial& dial, asio::ip::tcp::endpoint endpoint)
  : Watched(dial.module().loop().poller())
  , dial_(dial)
  , endpoint_(std::move(endpoint))
  , socket_(dial.module().loop().poller()) {}

int Attempt::start() {
    UniqueFd socket(make_socket(endpoint_.address().is_v4()));
    if (!socket) return errno;
    if (dial_.module().options().subnet && !keep_in_subnet(socket.get(), endpoint_.address().is_v4()))
        return errno;
    apply(socket.get(), dial_.link().writer().options());
    const int done = ::connect(socket.get(), endpoint_.data(), static_cast<socklen_t>(endpoint_.size()));
    if (done != 0 && errno != EINPROGRESS && errno != EINTR) return errno;
    return socket_.open(std::move(socket), EPOLLOUT, *this) ? 0 : errno;
}

void Attempt::ready(std::uint32_t, std::uint32_t, std::uint32_t& handled) {
    ++handled;
    if (greeting_ == nullptr) {
        greet();
    } else {
        receive();
    }
}

void Attempt::greet() {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return dial_.refused(*this, error);
    greeting_ = dial_.module().connecting(dial_.link().peer());
    if (greeting_ == nullptr)
        return dial_.failed(*this, PLEXUS_LINK_LOST, "there is no memory to begin with");
    if (!send_outgoing()) return cut_off(system_text(errno));
    socket_.change(EPOLLIN, *this);
}

// A few bytes fit into an empty socket.
bool Attempt::send_outgoing() {
    const auto bytes = greeting_->take_outgoing();
    if (bytes.empty()) return true;
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
}

void Attempt::receive() {
    const std::span<std::uint8_t> room = greeting_->room();
    const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) return cut_off(system_text(errno));
    if (got == 0 && (has_answer_ || !greeting_was_taken(socket_.get())))
        return cut_off("closed before it answered");
    if (got == 0) return dial_.turned_away(*this);
    has_answer_ = true;
    const std::int32_t verdict = greeting_->took(static_cast<std::size_t>(got));
    const bool is_sent = send_outgoing();
    if (verdict == PLEXUS_DENIED) drop_unread(socket_.get());
    switch (verdict) {
    case PLEXUS_AGAIN:
        return is_sent ? void() : cut_off(system_text(errno));
    case PLEXUS_OK:
        return is_sent ? dial_.succeeded(*this) : cut_off(system_text(errno));
    case PLEXUS_WRONG_PEER:
        return dial_.failed(*this, PLEXUS_WRONG_PEER, "another context answered");
    case PLEXUS_UNSUPPORTED:
        return dial_.failed(*this, PLEXUS_LINK_LOST,
                            "speaks another version of the handshake (" +
                                std::to_string(greeting_->peer_version()) + ", this side " +
                                std::to_string(module::Handshake::kVersion) +
                                "): run the same release of Plexus on both sides");
    default:
        return dial_.failed(*this, PLEXUS_DENIED,
                            greeting_->why().empty() ? "answered, but does not hold this job's key"
                                                     : greeting_->why());
    }
}

// No answer and no refusal: the peer is ending, or has no room for more unauthenticated connections.
void Attempt::cut_off(const std::string& why) {
    dial_.cut_off(*this, why + ": it is ending, or has too many connections");
}

Dial::Dial(Module& module, Link& link)
  : Watched(module.loop().poller())
  , module_(module)
  , link_(link)
  , endpoints_(in_order(module, link.target())) {}

void Dial::start() {
    over_ = Clock::now() + module_.options().connect_timeout;
    next();
}

void Dial::expired() {
    if (Clock::now() < over_) return next();
    for (const auto& attempt : attempts_) note(attempt->endpoint(), PLEXUS_LINK_LOST, "no answer in time");
    give_up("no address of the peer answered within connect_timeout");
}

// Starts the next address; an address that fails at once is followed by the next at once.
void Dial::next() {
    while (next_ < endpoints_.size()) {
        auto attempt = std::make_unique<Attempt>(*this, endpoints_[next_++]);
        const int error = attempt->start();
        if (error == 0) {
            attempts_.push_back(std::move(attempt));
            break;
        }
        if (is_shortage(error)) { // the other addresses want a socket too
            --next_;
            if (!std::exchange(was_short_, true)) note(attempt->endpoint(), PLEXUS_AGAIN, system_text(error));
            return set_deadline(std::min(over_, Clock::now() + kStagger));
        }
        note(attempt->endpoint(), verdict_of(error), system_text(error));
    }
    if (attempts_.empty()) return give_up("no address of the peer could be connected to");
    set_deadline(next_ < endpoints_.size() ? std::min(over_, Clock::now() + kStagger) : over_);
}

// A listener ends with its process: where this host's own kernel refuses, the peer's process has ended.
std::int32_t Dial::verdict_of(int error) const {
    const bool ended = error == ECONNREFUSED && link_.target().where.same_network(module_.here());
    return ended ? PLEXUS_PEER_LOST : PLEXUS_LINK_LOST;
}

void Dial::refused(Attempt& attempt, int error) { failed(attempt, verdict_of(error), system_text(error)); }

void Dial::failed(Attempt& attempt, std::int32_t status, const std::string& why) {
    note(attempt.endpoint(), status, why);
    drop(attempt);
    if (next_ < endpoints_.size() || attempts_.empty()) next();
}

void Dial::cut_off(Attempt& attempt, const std::string& why) {
    if (retries_ == kMostRetries) return failed(attempt, PLEXUS_LINK_LOST, why);
    if (++retries_ == 1) note(attempt.endpoint(), PLEXUS_AGAIN, why);
    const bool others = next_ < endpoints_.size();
    endpoints_.push_back(attempt.endpoint());
    drop(attempt);
    if (others) return next();
    set_deadline(std::min(over_, Clock::now() + kStagger));
}

// A process that was killed after it had read the greeting closes in order too, but does not listen any more.
void Dial::turned_away(Attempt& attempt) {
    const std::string why = "took the greeting and closed the connection";
    const bool again = std::find(silent_.begin(), silent_.end(), attempt.endpoint()) != silent_.end();
    if (again || retries_ == kMostRetries)
        return failed(attempt, PLEXUS_DENIED,
                      why + ": it does not hold this job's key (see job.key_file), or is no context");
    silent_.push_back(attempt.endpoint());
    cut_off(attempt, why);
}

void Dial::succeeded(Attempt& attempt) {
    UniqueFd socket = attempt.take_socket();
    std::unique_ptr<Greeting> greeting = attempt.take_greeting();
    stop();
    link_.connected(std::move(socket), std::move(greeting));
}

void Dial::stop() {
    clear_deadline();
    for (auto& attempt : attempts_) poller().retire(std::move(attempt));
    attempts_.clear();
}

void Dial::note(const asio::ip::tcp::endpoint& endpoint, std::int32_t status, const std::string& why) {
    wrong_peer_ = wrong_peer_ || status == PLEXUS_WRONG_PEER;
    denied_ = denied_ || status == PLEXUS_DENIED;
    if (status != PLEXUS_AGAIN) { // the address will not be tried again
        ended_ = status == PLEXUS_PEER_LOST && (ended_ || !judged_);
        judged_ = true;
    }
    notes_ += (notes_.empty() ? "" : "; ") + text_of(endpoint) + ": " + why;
}

void Dial::drop(Attempt& attempt) {
    const auto found = std::find_if(attempts_.begin(), attempts_.end(),
                                    [&](const auto& one) { return one.get() == &attempt; });
    poller().retire(std::move(*found)); // the attempt may be the caller
    attempts_.erase(found);
}

void Dial::give_up(const std::string& why) {
    const std::int32_t status = wrong_peer_ ? PLEXUS_WRONG_PEER
                                : denied_   ? PLEXUS_DENIED
                                : ended_    ? PLEXUS_PEER_LOST
                                            : PLEXUS_LINK_LOST;
    stop();
    link_.not_connected(status, notes_.empty() ? why : why + " (" + notes_ + ")");
}

} // namespace plexus::stream_link
