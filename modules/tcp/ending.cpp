// SPDX-License-Identifier: BSD-3-Clause
// How a link begins and ends, on the progress thread.
#include "tcp/dial.h"
#include "tcp/link.h"
#include "tcp/module.h"
#include "tcp/socket.h"

#include <cerrno>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace plexus::tcp {

void Link::attend() {
    if (given_up()) return wind_up();
    bool begin = false;
    int error = 0;
    {
        const module::Lock hold(mutex_);
        begin = state_ == State::connecting && dial_ == nullptr;
        if (state_ == State::broken) error = error_;
    }
    if (begin) {
        dial_ = std::make_unique<Dial>(module_, *this);
        return dial_->start();
    }
    // If the other side broke the connection, reading reports the end after the bytes that have arrived.
    char byte = 0;
    if (error != 0 && ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN) lose_by(error);
}

void Link::connected(module::OwnedFd socket, std::uint64_t peer_most) {
    poller().retire(std::move(dial_)); // it is running
    bool wanted = false;
    {
        const module::Lock hold(mutex_);
        most_ = module::common_limit(most_, peer_most);
        fd_ = socket.release();
        state_ = State::open;
        apply(fd_, socket_options_);
        poller().change(fd_, EPOLLIN, *this);
        wanted = std::exchange(want_writable_, false);
    }
    established_ = true;
    peer_address_ = peer_text(fd_);
    if (!given_up()) module_.host().opened(cookie_);
    if (wanted && !given_up()) module_.host().writable(cookie_);
}

void Link::not_connected(std::int32_t status, const std::string& why) {
    poller().retire(std::move(dial_)); // it is running
    lose(status, why);
}

void Link::refuse() {
    given_up_.store(true, std::memory_order_relaxed);
    end_everything();
    module_.forget(*this);
}

void Link::lose_by(int error) {
    const bool inside = reader_.inside_message() || !kept_.empty();
    {
        const module::Lock hold(mutex_);
        if (error == 0) error = error_; // the error was reported to a write
    }
    std::string why = error != 0 ? "the connection to " + peer_address_ + " broke: " + system_text(error)
                                 : "the peer closed the connection";
    if (inside) why += ", in the middle of a message";
    lose(PLEXUS_LINK_LOST, why);
}

// A live host acknowledges data, and the kernel's probes while its window is closed. Without an answer the
// kernel sends again, and counts.
void Link::end_if_silent(std::chrono::nanoseconds dead_after) {
    if (!established_) return;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return;
    const bool repeats = info.tcpi_retransmits > 0 || info.tcpi_probes > 1;
    const auto silent = std::chrono::milliseconds(info.tcpi_last_ack_recv);
    if (!repeats || silent < dead_after) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silent).count();
    lose(PLEXUS_LINK_LOST, "the host of " + peer_address_ + " has not answered for " +
                               std::to_string(seconds) + " s (see dead_after)");
}

void Link::lose(std::int32_t status, const std::string& why) {
    end_everything();
    if (!given_up()) module_.host().lost(cookie_, status, module::view(why));
}

// Closes the socket and drops both halves; callbacks end the sends and placements under way.
void Link::end_everything() {
    established_ = false;
    clear_deadline();
    module_.cool(*this);
    backlog_ = {};
    kept_ = {};
    std::vector<void*> tokens;
    {
        const module::Lock hold(mutex_);
        state_ = State::over;
        out_.drop(tokens);
        queued_.store(0, std::memory_order_relaxed);
        if (fd_ >= 0) poller().close(std::exchange(fd_, -1));
    }
    reader_.abandon(owner());
    for (void* token : tokens) module_.host().sent(cookie_, token, PLEXUS_MESSAGE_LOST);
}

// The host has disconnected the link. Accepted messages are still sent, then the other side gets the end of
// stream and time to read it: if the socket were closed with unread bytes, the kernel would reset the
// connection and drop the bytes under way.
void Link::wind_up() {
    if (dial_ != nullptr) {
        dial_->stop();
        poller().retire(std::move(dial_));
    }
    if (!std::exchange(established_, false)) return finish();
    module_.cool(*this);
    backlog_ = {};
    kept_ = {};
    lingering_ = true;
    set_deadline(Clock::now() + module_.options().linger);
    linger();
}

void Link::linger() {
    flush();
    bool through = false;
    bool broken = false;
    {
        const module::Lock hold(mutex_);
        through = out_.empty();
        broken = state_ == State::broken;
    }
    if (broken) return finish();
    if (through) (void)::shutdown(fd_, SHUT_WR);
    // MSG_TRUNC: the kernel drops the bytes without copying them.
    ssize_t got = 0;
    for (int i = 0; i < 16; ++i) {
        got = ::recv(fd_, nullptr, 1024 * 1024, MSG_TRUNC | MSG_DONTWAIT);
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

bool Link::flush_at_end() {
    if (dial_ != nullptr || fd_ < 0) return false;
    std::vector<void*> over;
    bool left = false;
    {
        const module::Lock hold(mutex_);
        const int error = out_.write(fd_, over);
        left = !out_.empty() && (error == EAGAIN || is_shortage(error));
    }
    for (void* token : over) module_.host().sent(cookie_, token, PLEXUS_OK);
    return left;
}

void Link::shut_down() {
    if (dial_ != nullptr) {
        dial_->stop();
        poller().retire(std::move(dial_));
    }
    if (fd_ >= 0 && poller().is_own_process()) {
        (void)::shutdown(fd_, SHUT_WR);
        for (int i = 0; i < 64 && ::recv(fd_, nullptr, 1024 * 1024, MSG_TRUNC | MSG_DONTWAIT) > 0; ++i) {}
    }
    end_everything();
    if (given_up()) module_.forget(*this);
}

} // namespace plexus::tcp
