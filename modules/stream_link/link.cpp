// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/link.h"

#include "common/values.h"
#include "stream_link/dial.h"
#include "stream_link/module.h"
#include "stream_link/socket.h"

#include <cerrno>
#include <sys/socket.h>

namespace plexus::stream_link {

Link::Link(Module& module, void* cookie, const plexus_id& peer, Descriptor target)
  : Watched(module.loop().poller())
  , module_(module)
  , peer_(peer)
  , target_(std::move(target))
  , events_(module.host(), cookie)
  , writer_(module, *this)
  , reader_(module.make_reader(), module.loop().buffers(), module.loop().coalescer(), events_)
  , phase_(Phase::connecting) {}

Link::Link(Module& module, const plexus_id& peer, std::uint64_t peer_most, UniqueFd socket)
  : Watched(module.loop().poller())
  , module_(module)
  , peer_(peer)
  , events_(module.host(), nullptr)
  , writer_(module, *this, std::move(socket), peer_most)
  , reader_(module.make_reader(), module.loop().buffers(), module.loop().coalescer(), events_)
  , phase_(Phase::open)
  , peer_address_(peer_text(writer_.socket())) {}

Link::~Link() = default;

// ---- what the host asks for ------------------------------------------------------------------

void Link::disconnect() {
    events_.give_up();
    if (module_.drained()) {
        module_.forget(*this);
    } else {
        module_.loop().notify(*this);
    }
}

std::int32_t Link::set(const char* name, const char* value, plexus_text& why) {
    const std::string_view key = name;
    SocketOptions wanted = writer_.options(); // the host serialises set
    if (key == "nodelay") {
        const auto yes = module::parse_bool(value);
        if (!yes) {
            module::write(why, "nodelay is true or false");
            return PLEXUS_BAD_ARGUMENT;
        }
        wanted.nodelay = *yes;
    } else if (key == "sndbuf" || key == "rcvbuf") {
        const auto size = size_in(value);
        if (!size || *size == 0 || *size > kMostSocketBuffer) {
            module::write(why, std::string(key) + " is a size from 1 to 1 GiB while a link runs");
            return PLEXUS_BAD_ARGUMENT;
        }
        (key == "sndbuf" ? wanted.sndbuf : wanted.rcvbuf) = *size;
    } else {
        return module::set_at_open_only(module_.host(), name, why);
    }
    writer_.set_options(wanted);
    return PLEXUS_OK;
}

void Link::attend() {
    if (events_.given_up()) return say_goodbye();
    if (phase_ == Phase::connecting && dial_ == nullptr) {
        dial_ = std::make_unique<Dial>(module_, *this);
        return dial_->start();
    }
    // If the other side broke the connection, reading reports the end after the bytes that have arrived.
    const int error = writer_.error();
    char byte = 0;
    if (error != 0 && ::recv(writer_.socket(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN)
        lose_by(error);
}

// ---- the beginning ---------------------------------------------------------------------------

void Link::connected(UniqueFd socket, std::unique_ptr<Greeting> greeting) {
    poller().retire(std::move(dial_)); // it is running
    const bool wanted = writer_.open(std::move(socket), greeting->peer_max_message());
    phase_ = Phase::open;
    peer_address_ = peer_text(writer_.socket());
    module_.keep_greeting(std::move(greeting));
    events_.opened();
    module_.keep_greeting(nullptr);
    if (wanted) events_.writable();
}

void Link::not_connected(std::int32_t status, const std::string& why) {
    poller().retire(std::move(dial_)); // it is running
    lose(status, why);
}

void Link::refuse() {
    events_.give_up();
    finish();
}

// ---- what the two halves do ------------------------------------------------------------------

void Link::ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) {
    if (phase_ == Phase::lingering) {
        ++handled;
        return linger();
    }
    if ((events & EPOLLOUT) != 0) {
        module_.loop().found_cold();
        flush();
        ++handled;
    }
    if (phase_ != Phase::open || (events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) return;
    const std::uint32_t got = read(budget);
    handled += got;
    if ((got > 0 || has_backlog()) && phase_ == Phase::open) module_.loop().heat(*this);
}

void Link::after_read(const Reader::Result& result) {
    if (reader_.has_backlog()) module_.loop().buffers().hold(*this);
    if (result.is_over) lose_by(result);
}

std::uint32_t Link::resume(std::uint32_t budget) {
    const Reader::Result result = reader_.resume(budget);
    if (result.is_over) lose_by(result);
    return result.handled;
}

void Link::flush() {
    const Writer::Flushed flushed = writer_.flush();
    events_.sent(flushed.sent, PLEXUS_OK);
    if (flushed.is_writable) events_.writable();
}

// ---- the end, if something broke -------------------------------------------------------------

void Link::lose(std::int32_t status, const std::string& why) {
    end_everything();
    events_.lost(status, why);
}

void Link::lose_by(int error) {
    std::string why = error != 0 ? "the connection to " + peer_address_ + " broke: " + system_text(error)
                                 : "the peer closed the connection";
    if (reader_.is_inside_message()) why += ", in the middle of a message";
    lose(PLEXUS_LINK_LOST, why);
}

void Link::lose_by(const Reader::Result& end) {
    if (end.damage != nullptr)
        return lose(PLEXUS_LINK_LOST, "the stream from " + peer_address_ + " is damaged: " + end.damage);
    lose_by(end.error != 0 ? end.error : writer_.error()); // the error was reported to a write
}

// A live host acknowledges data, and the kernel's probes while its window is closed. Without an answer the
// kernel sends again, and counts.
void Link::end_if_silent(std::chrono::nanoseconds dead_after) {
    if (phase_ != Phase::open) return;
    const auto info = tcp_info_of(writer_.socket());
    if (!info) return;
    const bool repeats = info->tcpi_retransmits > 0 || info->tcpi_probes > 1;
    const auto silent = std::chrono::milliseconds(info->tcpi_last_ack_recv);
    if (!repeats || silent < dead_after) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silent).count();
    lose(PLEXUS_LINK_LOST, "the host of " + peer_address_ + " has not answered for " +
                               std::to_string(seconds) + " s (see dead_after)");
}

// ---- the end that the host wants -------------------------------------------------------------

void Link::stop_dialling() {
    if (dial_ == nullptr) return;
    dial_->stop();
    poller().retire(std::move(dial_));
}

// The host has disconnected the link. Accepted messages are still sent, then the other side gets the end of
// stream and time to read it: if the socket were closed with unread bytes, the kernel would reset the
// connection and drop the bytes under way.
void Link::say_goodbye() {
    stop_dialling();
    if (phase_ != Phase::open) return finish();
    phase_ = Phase::lingering;
    module_.loop().cool(*this);
    reader_.discard();
    set_deadline(Clock::now() + module_.options().linger);
    linger();
}

void Link::linger() {
    flush();
    if (writer_.error() != 0) return finish();
    if (!writer_.has_unsent()) (void)::shutdown(writer_.socket(), SHUT_WR);
    // MSG_TRUNC: the kernel drops the bytes without copying them.
    ssize_t got = 0;
    for (int i = 0; i < 16; ++i) {
        got = ::recv(writer_.socket(), nullptr, 1024 * 1024, MSG_TRUNC | MSG_DONTWAIT);
        if (got <= 0) break;
    }
    const bool over = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (over) finish();
}

void Link::expired() { finish(); }

void Link::finish() {
    end_everything();
    module_.forget(*this);
}

// Closes the socket and drops both halves; callbacks end the sends and placements under way.
void Link::end_everything() {
    phase_ = Phase::over;
    clear_deadline();
    module_.loop().cool(*this);
    reader_.discard();
    const std::vector<void*> tokens = writer_.close();
    reader_.abandon();
    events_.sent(tokens, PLEXUS_MESSAGE_LOST);
}

bool Link::flush_at_end() {
    if (dial_ != nullptr || writer_.socket() < 0) return false;
    std::vector<void*> sent;
    const bool left = writer_.flush_at_end(sent);
    events_.sent(sent, PLEXUS_OK);
    return left;
}

void Link::shut_down() {
    stop_dialling();
    if (writer_.socket() >= 0 && poller().is_own_process()) {
        (void)::shutdown(writer_.socket(), SHUT_WR);
        for (int i = 0;
             i < 64 && ::recv(writer_.socket(), nullptr, 1024 * 1024, MSG_TRUNC | MSG_DONTWAIT) > 0; ++i) {}
    }
    end_everything();
    if (events_.given_up()) module_.forget(*this);
}

} // namespace plexus::stream_link
