// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/writer.h"

#include "common/frames.h"
#include "common/pieces.h"
#include "stream_link/link.h"
#include "stream_link/module.h"
#include "stream_link/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utility>

namespace plexus::stream_link {
namespace {

// Up to here one copy and send() is faster than a list of pieces and sendmsg().
constexpr std::size_t kOneBlock = Writer::kInlineBytes;
constexpr std::uint64_t kMostCoalesced = 64 * 1024; // bytes
constexpr std::size_t kMostPosted = 256;            // large messages of one link on their way

ssize_t send_block(int socket, Framing framing, const plexus_view* pieces, std::uint32_t count,
                   std::size_t size) {
    alignas(8) std::byte block[module::kFrameWord + kOneBlock];
    std::byte* out = block;
    if (framing == Framing::frames) {
        const std::size_t head = count == 0 ? 0 : std::min<std::size_t>(pieces[0].size, PLEXUS_HEAD_MAX);
        module::write_frame_word(block, size, head);
        out += module::kFrameWord;
    }
    out = module::copy_pieces(out, {pieces, count});
    if (framing == Framing::frames) std::memset(out, 0, module::frame_padding(size));
    return ::send(socket, block, static_cast<std::size_t>(wire_bytes(framing, size)),
                  MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t send_parts(int socket, Framing framing, const plexus_view* pieces, std::uint32_t count,
                   std::uint64_t size) {
    FrameParts parts(framing, pieces, count, size);
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.count();
    return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// Bytes that the peer has not acknowledged; 0 also if the kernel does not say.
std::uint64_t unanswered_bytes(int socket) {
    int bytes = 0;
    return socket >= 0 && ::ioctl(socket, SIOCOUTQ, &bytes) == 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

} // namespace

Writer::Writer(Module& module, Link& link)
  : module_(module)
  , link_(link)
  , state_(State::connecting)
  , most_(module::common_limit(module.options().max_message, 0))
  , out_(module.options().framing)
  , options_(module.options().socket) {}

Writer::Writer(Module& module, Link& link, UniqueFd socket, std::uint64_t peer_most)
  : module_(module)
  , link_(link)
  , fd_(socket.release())
  , state_(State::open)
  , most_(module::common_limit(module.options().max_message, peer_most))
  , out_(module.options().framing)
  , options_(module.options().socket) {}

Writer::~Writer() {
    if (fd_ >= 0) module_.loop().poller().close(fd_);
}

std::int32_t Writer::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    const std::uint64_t size = module::size_of({pieces, count});
    const Options& options = module_.options();
    if (size > options.eager && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    if (module_.closing()) return PLEXUS_LINK_LOST;

    const Lock hold(mutex_);
    if (size > most_) return PLEXUS_TOO_LARGE;
    if (state_ == State::connecting) {
        want_writable_ = true;
        return PLEXUS_AGAIN;
    }
    if (state_ != State::open) return PLEXUS_LINK_LOST;
    if (!watched_) {
        watched_ = true;
        module_.loop().watch(link_);
    }
    const bool coalesces = size <= kOneBlock && module_.loop().coalescer().coalesces();
    if (coalesced_ && (!coalesces || is_full())) {
        write_coalesced();
        if (state_ != State::open) return PLEXUS_LINK_LOST;
    }
    if (coalesces && (coalesced_ || out_.empty())) return coalesce(pieces, count, size);
    if (!out_.empty() || count > FrameParts::kMostPieces) return queue(pieces, count, size, 0, token);
    return write_now(pieces, count, size, token);
}

std::int32_t Writer::write_now(const plexus_view* pieces, std::uint32_t count, std::uint64_t size,
                               void* token) {
    const Framing framing = module_.options().framing;
    ssize_t written = 0;
    do {
        written = size <= kOneBlock ? send_block(fd_, framing, pieces, count, static_cast<std::size_t>(size))
                                    : send_parts(fd_, framing, pieces, count, size);
    } while (written < 0 && errno == EINTR);
    if (written < 0 && errno != EAGAIN && !is_shortage(errno)) {
        break_off(errno);
        return PLEXUS_LINK_LOST;
    }
    const auto done = static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
    if (done == wire_bytes(framing, size)) return PLEXUS_OK;
    return queue(pieces, count, size, done, token);
}

std::int32_t Writer::coalesce(const plexus_view* pieces, std::uint32_t count, std::uint64_t size) {
    if (!std::exchange(coalesced_, true)) module_.loop().coalescer().add(link_);
    out_.copy(pieces, count, size, 0);
    queued_.store(out_.all_bytes(), std::memory_order_relaxed);
    return PLEXUS_OK;
}

// All that waits is small messages, of which the host hears no end.
void Writer::write_coalesced() {
    std::vector<void*> none;
    coalesced_ = false;
    const int error = out_.write(fd_, none);
    if (error != 0 && error != EAGAIN && !is_shortage(error)) break_off(error);
    queued_.store(out_.all_bytes(), std::memory_order_relaxed);
    if (!out_.empty() && state_ == State::open) watch_writing(true);
}

bool Writer::is_full() const {
    return out_.copied_bytes() > std::min(kMostCoalesced, module_.options().queue);
}

// A message that was partly written must be kept whole; another message is taken within the bounds only.
std::int32_t Writer::queue(const plexus_view* pieces, std::uint32_t count, std::uint64_t size,
                           std::uint64_t done, void* token) {
    const bool small = size <= module_.options().eager;
    const bool full =
        small ? out_.copied_bytes() + size > module_.options().queue : out_.posted() >= kMostPosted;
    if (done == 0 && !out_.empty() && full) {
        want_writable_ = true;
        return PLEXUS_AGAIN;
    }
    if (small) {
        out_.copy(pieces, count, size, done);
    } else {
        out_.post(pieces, count, size, done, token);
    }
    queued_.store(out_.all_bytes(), std::memory_order_relaxed);
    watch_writing(true);
    return small ? PLEXUS_OK : PLEXUS_POSTED;
}

void Writer::watch_writing(bool on) {
    if (std::exchange(watching_writing_, on) == on) return;
    module_.loop().poller().change(fd_, on ? EPOLLIN | EPOLLOUT : EPOLLIN, link_);
}

// The reading half still delivers the frames that have arrived, then finds the end and reports it.
void Writer::break_off(int error) {
    state_ = State::broken;
    error_ = error;
    module_.loop().notify(link_);
}

bool Writer::open(UniqueFd socket, std::uint64_t peer_most) {
    const Lock hold(mutex_);
    most_ = module::common_limit(most_, peer_most);
    fd_ = socket.release();
    state_ = State::open;
    apply(fd_, options_);
    module_.loop().poller().change(fd_, EPOLLIN, link_);
    return std::exchange(want_writable_, false);
}

Writer::Flushed Writer::flush() {
    Flushed flushed;
    const Lock hold(mutex_);
    coalesced_ = false;
    if (fd_ < 0 || out_.empty()) return flushed;
    const int error = out_.write(fd_, flushed.sent);
    if (error != 0 && error != EAGAIN && !is_shortage(error)) break_off(error);
    queued_.store(out_.all_bytes(), std::memory_order_relaxed);
    watch_writing(!out_.empty() && state_ != State::broken);
    if (want_writable_ && out_.copied_bytes() <= module_.options().queue / 2) {
        want_writable_ = false;
        flushed.is_writable = state_ == State::open;
    }
    return flushed;
}

bool Writer::flush_at_end(std::vector<void*>& sent) {
    const Lock hold(mutex_);
    const int error = out_.write(fd_, sent);
    return !out_.empty() && (error == EAGAIN || is_shortage(error));
}

std::vector<void*> Writer::close() {
    std::vector<void*> tokens;
    const Lock hold(mutex_);
    state_ = State::over;
    out_.drop(tokens);
    coalesced_ = false;
    module_.loop().coalescer().remove(link_);
    queued_.store(0, std::memory_order_relaxed);
    if (fd_ >= 0) module_.loop().poller().close(std::exchange(fd_, -1));
    return tokens;
}

bool Writer::has_unsent() const {
    const Lock hold(mutex_);
    return !out_.empty();
}

int Writer::error() const {
    const Lock hold(mutex_);
    return state_ == State::broken ? error_ : 0;
}

bool Writer::has_unanswered() {
    const Lock hold(mutex_);
    watched_ = unanswered_bytes(fd_) > 0;
    return watched_;
}

void Writer::set_options(const SocketOptions& options) {
    const Lock hold(mutex_);
    options_ = options;
    if (fd_ >= 0) apply(fd_, options);
}

SocketOptions Writer::options() const {
    const Lock hold(mutex_);
    return options_;
}

std::uint64_t Writer::max_message() const {
    const Lock hold(mutex_);
    return most_ == module::kFrameMost ? 0 : most_;
}

std::uint64_t Writer::queued_bytes() const {
    const Lock hold(mutex_);
    return out_.all_bytes() + unanswered_bytes(fd_);
}

std::uint64_t Writer::round_trip_ns() const {
    const Lock hold(mutex_);
    const auto info = tcp_info_of(fd_);
    return info ? std::uint64_t{info->tcpi_rtt} * 1000 : 0;
}

std::uint64_t Writer::bytes_a_second() const {
    const Lock hold(mutex_);
    const auto info = tcp_info_of(fd_);
    if (!info || info->tcpi_rtt == 0) return 0;
    return std::uint64_t{info->tcpi_snd_cwnd} * info->tcpi_snd_mss * 1'000'000 / info->tcpi_rtt;
}

} // namespace plexus::stream_link
