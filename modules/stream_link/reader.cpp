// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace plexus::stream_link {
namespace {

constexpr std::size_t kReads = 8;                // of one link in one turn
constexpr std::size_t kMostLanding = 512 * 1024; // bytes of a large message in one read
constexpr std::size_t kPeek = 256;               // read along with the end of a large message
constexpr std::size_t kFair = 64 * 1024;         // bytes of one read, divided by the links that wait

// Where in an aligned buffer the next bytes belong, so that frames begin at multiples of 8.
std::size_t offset_of(const module::StreamReader& stream) { return (8 - stream.skew()) % 8; }

} // namespace

Reader::Result Reader::read(int socket, std::uint32_t budget) {
    Result result;
    std::uint32_t left = budget;
    for (std::size_t i = 0; left > 0 && i < kReads && !events_.given_up(); ++i) {
        const bool more = stream_->landing().empty() ? read_frames(socket, left, result)
                                                     : read_landing(socket, left, result);
        if (!more || has_backlog()) break;
    }
    if (result.handled > 0) {
        result.handled = std::max(budget - left, 1U);
        if (is_inside_message()) events_.arriving();
    }
    return result;
}

// Reads into the host's memory, and with the last bytes the beginning of what follows. False: there is no
// more for now.
bool Reader::read_landing(int socket, std::uint32_t& budget, Result& result) {
    const std::span<std::byte> buffer = buffers_.current();
    if (buffer.empty()) return false;
    const std::span<std::byte> whole = stream_->landing();
    const std::span<std::byte> place = whole.first(std::min(whole.size(), kMostLanding));
    std::byte* const beyond = buffer.data() + offset_of(*stream_);
    iovec parts[2] = {{place.data(), place.size()}, {beyond, kPeek}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = place.size() == whole.size() ? 2 : 1;
    ssize_t got = 0;
    {
        const Lock border(events_.border());
        if (events_.given_up()) return false;
        got = ::recvmsg(socket, &message, MSG_DONTWAIT);
    }
    if (got <= 0) return go_on(got, 0, result);
    result.handled = 1;
    const std::size_t landed = std::min(place.size(), static_cast<std::size_t>(got));
    stream_->landed(events_.owner(), landed, budget);
    if (static_cast<std::size_t>(got) > landed)
        consume({beyond, static_cast<std::size_t>(got) - landed}, budget);
    return go_on(got, place.size() + (place.size() == whole.size() ? kPeek : 0), result);
}

bool Reader::read_frames(int socket, std::uint32_t& budget, Result& result) {
    const std::span<std::byte> buffer = buffers_.current();
    if (buffer.empty()) return false;
    const std::span<std::byte> room = buffer.subspan(offset_of(*stream_));
    const std::size_t before = kept_.size();
    if (before > 0) std::memcpy(room.data(), kept_.data(), before);
    std::size_t asked = room.size() - before;
    // The more links have messages in a buffer, the fewer bytes another link needs to read.
    if (const std::size_t held = buffers_.held(); held > 0) asked = std::min(asked, kFair / held);
    const ssize_t got = ::recv(socket, room.data() + before, asked, MSG_DONTWAIT);
    if (got <= 0) return go_on(got, 0, result);
    result.handled = 1;
    kept_ = {}; // given back: an idle link holds no memory
    consume(room.first(before + static_cast<std::size_t>(got)), budget);
    return go_on(got, asked, result);
}

// After a call of recv. False: no more for now, or never.
bool Reader::go_on(ssize_t got, std::size_t asked, Result& result) const {
    if (events_.given_up()) return false;
    result.damage = stream_->corrupt();
    if (result.damage == nullptr) {
        // Fewer bytes than asked for: the socket is empty, another call would find nothing.
        if (got > 0) return static_cast<std::size_t>(got) == asked;
        if (got < 0 && errno == EINTR) return true;
        if (got < 0 && errno == EAGAIN) return false;
        result.error = got < 0 ? errno : 0;
    }
    result.is_over = true;
    return false;
}

// The rest begins with a frame. If the frame is whole, the budget has ended: the rest stays in the buffer for
// the next turn. The beginning of a frame is copied.
void Reader::consume(std::span<const std::byte> bytes, std::uint32_t& budget) {
    const bool several = !stream_->inside_message() && bytes.size() > stream_->enough(bytes);
    const std::size_t taken =
        several ? take_several(bytes, budget) : stream_->take(events_.owner(), bytes, budget);
    const std::span<const std::byte> rest = bytes.subspan(taken);
    if (rest.empty() || events_.given_up() || stream_->corrupt() != nullptr) return;
    if (rest.size() >= stream_->enough(rest)) {
        backlog_ = rest;
    } else {
        kept_.assign(rest.begin(), rest.end());
    }
}

// While their answers are coalesced, messages are handed over one by one: so none waits for long.
std::size_t Reader::take_several(std::span<const std::byte> bytes, std::uint32_t& budget) {
    Coalescer::Batch batch(coalescer_);
    std::size_t taken = 0;
    for (bool more = true; more && budget > 0;) {
        more = batch.coalesces();
        std::uint32_t left = more ? 1 : budget;
        const std::uint32_t before = left;
        taken += stream_->take(events_.owner(), bytes.subspan(taken), left);
        const std::uint32_t handed_over = before - left;
        more = more && handed_over > 0;
        budget -= handed_over;
        batch.handed_over(handed_over);
    }
    batch.end();
    return taken;
}

Reader::Result Reader::resume(std::uint32_t budget) {
    Result result;
    const std::span<const std::byte> bytes = std::exchange(backlog_, {});
    if (events_.given_up()) return result;
    std::uint32_t left = budget;
    consume(bytes, left);
    result.handled = budget - left;
    if (!events_.given_up()) result.damage = stream_->corrupt();
    result.is_over = result.damage != nullptr;
    return result;
}

void Reader::discard() {
    backlog_ = {};
    kept_ = {};
}

} // namespace plexus::stream_link
