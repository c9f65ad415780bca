// SPDX-License-Identifier: BSD-3-Clause
// The half of a link that any thread may use: sending, giving up, asking.
#include "tcp/link.h"

#include "common/values.h"
#include "tcp/dial.h"
#include "tcp/module.h"
#include "tcp/socket.h"

#include <cerrno>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace plexus::tcp {
namespace {

// Up to here one copy and send() is faster than a list of pieces and sendmsg().
constexpr std::size_t kOneBlock = Link::kInlineBytes;
constexpr std::size_t kMostPosted = 256; // large messages of one link on their way

std::uint64_t size_of(const plexus_view* pieces, std::uint32_t count) {
    std::uint64_t size = 0;
    for (std::uint32_t i = 0; i < count; ++i) size += pieces[i].size;
    return size;
}

ssize_t send_block(int socket, const plexus_view* pieces, std::uint32_t count, std::size_t size) {
    alignas(8) std::byte block[module::kFrameWord + kOneBlock];
    const std::size_t head = count == 0 ? 0 : std::min<std::size_t>(pieces[0].size, PLEXUS_HEAD_MAX);
    module::write_frame_word(block, size, head);
    std::byte* out = block + module::kFrameWord;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (pieces[i].size > 0) std::memcpy(out, pieces[i].data, pieces[i].size);
        out += pieces[i].size;
    }
    std::memset(out, 0, module::frame_padding(size));
    return ::send(socket, block, static_cast<std::size_t>(module::frame_bytes(size)),
                  MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t send_parts(int socket, const plexus_view* pieces, std::uint32_t count, std::uint64_t size) {
    FrameParts parts(pieces, count, size);
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.count();
    return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool read_info(int socket, tcp_info& info) {
    socklen_t size = sizeof info;
    return socket >= 0 && ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
}

} // namespace

Link::Link(Module& module, void* cookie, const plexus_id& peer, Descriptor target)
  : Watched(module.poller())
  , module_(module)
  , cookie_(cookie)
  , peer_(peer)
  , target_(std::move(target))
  , most_(module::common_limit(module.options().max_message, 0))
  , socket_options_(module.options().socket)
  , reader_(module.limits()) {}

Link::Link(Module& module, const plexus_id& peer, std::uint64_t peer_most, module::OwnedFd socket)
  : Watched(module.poller())
  , module_(module)
  , peer_(peer)
  , fd_(socket.release())
  , state_(State::open)
  , most_(module::common_limit(module.options().max_message, peer_most))
  , socket_options_(module.options().socket)
  , established_(true)
  , peer_address_(peer_text(fd_))
  , reader_(module.limits()) {}

Link::~Link() {
    if (fd_ >= 0) poller().close(fd_);
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    const std::uint64_t size = size_of(pieces, count);
    const Options& options = module_.options();
    if (size > options.eager && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    if (module_.closing()) return PLEXUS_LINK_LOST;

    const module::Lock hold(mutex_);
    if (size > most_) return PLEXUS_TOO_LARGE;
    if (state_ == State::connecting) {
        want_writable_ = true;
        return PLEXUS_AGAIN;
    }
    if (state_ != State::open) return PLEXUS_LINK_LOST;
    if (!watched_) {
        watched_ = true;
        module_.watch(*this);
    }
    if (!out_.empty() || count > FrameParts::kMostPieces) return queue(pieces, count, size, 0, token);
    return write_now(pieces, count, size, token);
}

std::int32_t Link::write_now(const plexus_view* pieces, std::uint32_t count, std::uint64_t size,
                             void* token) {
    ssize_t written = 0;
    do {
        written = size <= kOneBlock ? send_block(fd_, pieces, count, static_cast<std::size_t>(size))
                                    : send_parts(fd_, pieces, count, size);
    } while (written < 0 && errno == EINTR);
    if (written < 0 && errno != EAGAIN && !is_shortage(errno)) {
        break_off(errno);
        return PLEXUS_LINK_LOST;
    }
    const auto done = static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
    if (done == module::frame_bytes(size)) return PLEXUS_OK;
    return queue(pieces, count, size, done, token);
}

// A message that was partly written must be kept whole; another message is taken within the bounds only.
std::int32_t Link::queue(const plexus_view* pieces, std::uint32_t count, std::uint64_t size,
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

void Link::watch_writing(bool on) {
    if (std::exchange(watching_writing_, on) == on) return;
    poller().change(fd_, on ? EPOLLIN | EPOLLOUT : EPOLLIN, *this);
}

// The reading half still delivers the frames that have arrived, then finds the end and reports it.
void Link::break_off(int error) {
    state_ = State::broken;
    error_ = error;
    module_.notify(*this);
}

void Link::disconnect() {
    {
        const module::Lock border(landing_mutex_);
        given_up_.store(true, std::memory_order_relaxed);
    }
    if (module_.drained()) {
        module_.forget(*this);
    } else {
        module_.notify(*this);
    }
}

std::int32_t Link::set(const char* name, const char* value, plexus_text& why) {
    const std::string_view key = name;
    SocketOptions wanted = socket_options(); // the host serialises set
    if (key == "nodelay") {
        const auto yes = module::parse_bool(value);
        if (!yes) {
            module::write(why, "nodelay is true or false");
            return PLEXUS_BAD_ARGUMENT;
        }
        wanted.nodelay = *yes;
    } else if (key == "sndbuf" || key == "rcvbuf") {
        const auto size = module::parse_size(value);
        if (!size || *size == 0 || *size > kMostSocketBuffer) {
            module::write(why, std::string(key) + " is a size from 1 to 1 GiB while a link runs");
            return PLEXUS_BAD_ARGUMENT;
        }
        (key == "sndbuf" ? wanted.sndbuf : wanted.rcvbuf) = *size;
    } else {
        return module::set_at_open_only(module_.host(), name, why);
    }
    const module::Lock hold(mutex_);
    socket_options_ = wanted;
    if (fd_ >= 0) apply(fd_, wanted);
    return PLEXUS_OK;
}

SocketOptions Link::socket_options() const {
    const module::Lock hold(mutex_);
    return socket_options_;
}

std::uint64_t Link::max_message() const {
    const module::Lock hold(mutex_);
    return most_ == module::kFrameMost ? 0 : most_;
}

std::uint64_t Link::queued_bytes() const {
    const module::Lock hold(mutex_);
    int in_kernel = 0;
    if (fd_ < 0 || ::ioctl(fd_, SIOCOUTQ, &in_kernel) != 0) in_kernel = 0;
    return out_.all_bytes() + static_cast<std::uint64_t>(in_kernel);
}

bool Link::has_unanswered() {
    const module::Lock hold(mutex_);
    int unanswered = 0;
    watched_ = fd_ >= 0 && ::ioctl(fd_, SIOCOUTQ, &unanswered) == 0 && unanswered > 0;
    return watched_;
}

std::uint64_t Link::round_trip_ns() const {
    const module::Lock hold(mutex_);
    tcp_info info{};
    return read_info(fd_, info) ? std::uint64_t{info.tcpi_rtt} * 1000 : 0;
}

std::uint64_t Link::bytes_a_second() const {
    const module::Lock hold(mutex_);
    tcp_info info{};
    if (!read_info(fd_, info) || info.tcpi_rtt == 0) return 0;
    return std::uint64_t{info.tcpi_snd_cwnd} * info.tcpi_snd_mss * 1'000'000 / info.tcpi_rtt;
}

} // namespace plexus::tcp
