// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/outgoing.h"

#include "common/frames.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace plexus::stream_link {
namespace {

constexpr std::array<std::byte, 8> kZeros{};
constexpr int kWrites = 16;                 // in one call: a fast reader must not keep the thread for ever
constexpr std::uint64_t kBlock = 64 * 1024; // copies share a block up to this size

std::size_t padding(Framing framing, std::uint64_t size) {
    return framing == Framing::frames ? module::frame_padding(size) : 0;
}

iovec part(const void* data, std::size_t size) { return {const_cast<void*>(data), size}; }

std::size_t head_size(const plexus_view* pieces, std::uint32_t count) {
    return count == 0 ? 0 : std::min<std::size_t>(pieces[0].size, PLEXUS_HEAD_MAX);
}

// Adds the bytes of one range that are left after `skip`; `skip` shrinks by the bytes left out.
void add_rest(iovec* parts, std::size_t& count, std::uint64_t& skip, const void* data, std::size_t size) {
    if (skip >= size) {
        skip -= size;
        return;
    }
    parts[count++] = part(static_cast<const std::byte*>(data) + skip, size - static_cast<std::size_t>(skip));
    skip = 0;
}

} // namespace

std::uint64_t wire_bytes(Framing framing, std::uint64_t size) noexcept {
    return framing == Framing::frames ? module::frame_bytes(size) : size;
}

FrameParts::FrameParts(Framing framing, const plexus_view* pieces, std::uint32_t count, std::uint64_t size) {
    if (framing == Framing::frames) {
        module::write_frame_word(word_.data(), size, head_size(pieces, count));
        parts_[count_++] = part(word_.data(), word_.size());
    }
    for (std::uint32_t i = 0; i < count; ++i)
        if (pieces[i].size > 0) parts_[count_++] = part(pieces[i].data, pieces[i].size);
    if (const std::size_t zeros = padding(framing, size); zeros > 0)
        parts_[count_++] = part(kZeros.data(), zeros);
}

void Outgoing::copy(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, std::uint64_t done) {
    if (items_.empty() || items_.back().posted || items_.back().bytes.size() >= kBlock) items_.emplace_back();
    Item& item = items_.back();
    const std::size_t before = item.bytes.size();
    const auto add = [&](const void* data, std::size_t bytes) {
        const std::size_t skip = static_cast<std::size_t>(std::min<std::uint64_t>(done, bytes));
        done -= skip;
        const auto* from = static_cast<const std::byte*>(data);
        item.bytes.insert(item.bytes.end(), from + skip, from + bytes);
    };
    if (framing_ == Framing::frames) {
        std::array<std::byte, module::kFrameWord> word;
        module::write_frame_word(word.data(), size, head_size(pieces, count));
        add(word.data(), word.size());
    }
    for (std::uint32_t i = 0; i < count; ++i)
        if (pieces[i].size > 0) add(pieces[i].data, pieces[i].size);
    add(kZeros.data(), padding(framing_, size));
    const std::uint64_t added = item.bytes.size() - before;
    item.left += added;
    copied_ += added;
    all_ += added;
}

void Outgoing::post(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, std::uint64_t done,
                    void* token) {
    Item& item = items_.emplace_back();
    if (framing_ == Framing::frames) {
        item.bytes.resize(module::kFrameWord);
        module::write_frame_word(item.bytes.data(), size, head_size(pieces, count));
    }
    item.pieces.assign(pieces, pieces + count);
    if (const std::size_t zeros = padding(framing_, size); zeros > 0)
        item.pieces.push_back({kZeros.data(), zeros});
    item.done = done;
    item.left = wire_bytes(framing_, size) - done;
    item.token = token;
    item.posted = true;
    all_ += item.left;
    ++posted_;
}

std::size_t Outgoing::fill(std::array<iovec, kMostParts>& parts) const {
    std::size_t count = 0;
    for (const Item& item : items_) {
        std::uint64_t skip = item.done;
        if (count == kMostParts) break;
        add_rest(parts.data(), count, skip, item.bytes.data(), item.bytes.size());
        for (const plexus_view& piece : item.pieces) {
            if (count == kMostParts) return count;
            if (piece.size > 0) add_rest(parts.data(), count, skip, piece.data, piece.size);
        }
    }
    return count;
}

int Outgoing::write(int socket, std::vector<void*>& over) {
    for (int i = 0; i < kWrites && !items_.empty(); ++i) {
        std::array<iovec, kMostParts> parts;
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = fill(parts);
        const ssize_t written = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (written < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        advance(static_cast<std::uint64_t>(written), over);
    }
    return 0;
}

void Outgoing::advance(std::uint64_t bytes, std::vector<void*>& over) {
    all_ -= bytes;
    while (!items_.empty()) {
        Item& item = items_.front();
        const std::uint64_t here = std::min(bytes, item.left);
        item.left -= here;
        item.done += here;
        bytes -= here;
        if (!item.posted) copied_ -= here;
        if (item.left > 0) return;
        if (item.posted) {
            over.push_back(item.token);
            --posted_;
        }
        items_.pop_front();
    }
}

void Outgoing::drop(std::vector<void*>& tokens) {
    for (const Item& item : items_)
        if (item.posted) tokens.push_back(item.token);
    items_.clear();
    copied_ = all_ = 0;
    posted_ = 0;
}

} // namespace plexus::stream_link
