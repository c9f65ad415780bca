// SPDX-License-Identifier: BSD-3-Clause
// The progress thread's half of a link: reading, flushing, and the ways in which it ends.
#include "tcp/dial.h"
#include "tcp/link.h"
#include "tcp/module.h"
#include "tcp/socket.h"

#include <cerrno>
#include <sys/socket.h>

namespace plexus::tcp {
namespace {

constexpr std::size_t kReads = 8;                // of one link in one turn
constexpr std::size_t kMostLanding = 512 * 1024; // bytes of a large message in one read
constexpr std::size_t kPeek = 256;               // read along with the end of a large message
constexpr std::size_t kFair = 64 * 1024;         // bytes of one read, divided by the links that wait

// Where in an aligned buffer the next bytes belong, so that frames begin at multiples of 8.
std::size_t offset_of(const module::FrameReader& reader) { return (8 - reader.skew()) % 8; }

} // namespace

module::FrameReader::Owner Link::owner() { return {module_.host(), cookie_, given_up_, landing_mutex_}; }

void Link::ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) {
    if (lingering_) {
        ++handled;
        return linger();
    }
    if ((events & EPOLLOUT) != 0) {
        module_.found_cold();
        flush();
        ++handled;
    }
    if (!established_ || (events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0) return;
    handled += read(budget);
    if (misses == 0 && established_) module_.heat(*this);
}

std::uint32_t Link::read(std::uint32_t budget) {
    if (!backlog_.empty()) return 0; // first the frames in the buffer; the socket stays readable
    std::uint32_t left = budget;
    ++misses; // until something arrives
    for (std::size_t i = 0; left > 0 && i < kReads && established_ && !given_up(); ++i) {
        const bool more = reader_.landing().empty() ? read_frames(left) : read_landing(left);
        if (!more || !backlog_.empty()) break;
    }
    // A part of a large message is an event, too.
    return misses == 0 ? std::max(budget - left, 1U) : 0;
}

// Reads into the host's memory, and with the last bytes the beginning of what follows. False: there is no
// more for now.
bool Link::read_landing(std::uint32_t& budget) {
    const std::span<std::byte> buffer = module_.buffers().current();
    if (buffer.empty()) return false;
    const std::span<std::byte> whole = reader_.landing();
    const std::span<std::byte> place = whole.first(std::min(whole.size(), kMostLanding));
    std::byte* const beyond = buffer.data() + offset_of(reader_);
    iovec parts[2] = {{place.data(), place.size()}, {beyond, kPeek}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = place.size() == whole.size() ? 2 : 1;
    ssize_t got = 0;
    {
        const module::Lock border(landing_mutex_);
        if (given_up()) return false;
        got = ::recvmsg(fd_, &message, MSG_DONTWAIT);
    }
    if (got <= 0) return arrived(got, 0);
    misses = 0;
    const std::size_t landed = std::min(place.size(), static_cast<std::size_t>(got));
    reader_.landed(owner(), landed, budget);
    if (static_cast<std::size_t>(got) > landed)
        consume({beyond, static_cast<std::size_t>(got) - landed}, budget);
    return arrived(got, place.size() + (place.size() == whole.size() ? kPeek : 0));
}

bool Link::read_frames(std::uint32_t& budget) {
    const std::span<std::byte> buffer = module_.buffers().current();
    if (buffer.empty()) return false;
    const std::span<std::byte> room = buffer.subspan(offset_of(reader_));
    const std::size_t before = kept_.size();
    if (before > 0) std::memcpy(room.data(), kept_.data(), before);
    std::size_t asked = room.size() - before;
    // The more links have messages in a buffer, the fewer bytes another link needs to read.
    if (const std::size_t held = module_.buffers().held(); held > 0) asked = std::min(asked, kFair / held);
    const ssize_t got = ::recv(fd_, room.data() + before, asked, MSG_DONTWAIT);
    if (got <= 0) return arrived(got, 0);
    misses = 0;
    kept_ = {}; // given back: an idle link holds no memory
    consume(room.first(before + static_cast<std::size_t>(got)), budget);
    return arrived(got, asked);
}

// The result of a read. False: no more for now, or never.
bool Link::arrived(ssize_t got, std::size_t asked) {
    if (!established_ || given_up()) return false;
    if (reader_.corrupt() != nullptr) {
        lose(PLEXUS_LINK_LOST, "the stream from " + peer_address_ + " is damaged: " + reader_.corrupt());
        return false;
    }
    // Fewer bytes than asked for: the socket is empty, another call would find nothing.
    if (got > 0) return static_cast<std::size_t>(got) == asked;
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    lose_by(got < 0 ? errno : 0);
    return false;
}

void Link::consume(std::span<const std::byte> bytes, std::uint32_t& budget) {
    const std::size_t taken = reader_.take(owner(), bytes, budget);
    set_aside(bytes.subspan(taken));
    if (!backlog_.empty()) module_.buffers().hold(*this);
}

std::uint32_t Link::resume(std::uint32_t budget) {
    std::uint32_t left = budget;
    const std::span<const std::byte> bytes = std::exchange(backlog_, {});
    if (!established_ || given_up()) return 0;
    const std::size_t taken = reader_.take(owner(), bytes, left);
    if (established_) set_aside(bytes.subspan(taken));
    if (established_ && reader_.corrupt() != nullptr) (void)arrived(1, 1);
    return budget - left;
}

// The rest begins with a frame. If the frame is whole, the budget has ended: the rest stays in the buffer for
// the next turn. The beginning of a frame is copied.
void Link::set_aside(std::span<const std::byte> bytes) {
    if (bytes.empty() || given_up() || reader_.corrupt() != nullptr) return;
    if (bytes.size() >= reader_.enough(bytes)) {
        backlog_ = bytes;
    } else {
        kept_.assign(bytes.begin(), bytes.end());
    }
}

void Link::flush() {
    std::vector<void*> over;
    bool writable = false;
    {
        const module::Lock hold(mutex_);
        if (fd_ < 0 || out_.empty()) return;
        const int error = out_.write(fd_, over);
        if (error != 0 && error != EAGAIN && !is_shortage(error)) break_off(error);
        queued_.store(out_.all_bytes(), std::memory_order_relaxed);
        if (out_.empty() || state_ == State::broken) watch_writing(false);
        if (want_writable_ && out_.copied_bytes() <= module_.options().queue / 2) {
            want_writable_ = false;
            writable = state_ == State::open;
        }
    }
    for (void* token : over) module_.host().sent(cookie_, token, PLEXUS_OK);
    if (writable && !given_up()) module_.host().writable(cookie_);
}

} // namespace plexus::tcp
