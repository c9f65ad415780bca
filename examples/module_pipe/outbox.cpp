// SPDX-License-Identifier: BSD-3-Clause
#include "outbox.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace pipes {
namespace {

constexpr std::size_t kMostParts = 64; // in one write

} // namespace

std::uint64_t Outbox::bytes() const {
    std::uint64_t bytes = 0;
    for (const Item& item : items_)
        for (const plexus_view& part : item.left) bytes += part.size;
    return bytes;
}

bool Outbox::pay_writable() { return items_.size() <= most_ / 2 && std::exchange(is_writable_owed_, false); }

void Outbox::append(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, void* token) {
    const bool small = size <= kEager;
    const std::uint64_t head = count == 0 ? 0 : std::min<std::uint64_t>(pieces[0].size, PLEXUS_HEAD_MAX);
    const std::uint64_t word = size | head << 56;
    const auto* bytes = reinterpret_cast<const std::byte*>(&word);
    Item item;
    item.own.reserve(kWord + (small ? size : 0));
    item.own.assign(bytes, bytes + kWord);
    if (small) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto* piece = static_cast<const std::byte*>(pieces[i].data);
            item.own.insert(item.own.end(), piece, piece + pieces[i].size);
        }
    }
    item.left.push_back(plexus::module::view(item.own.data(), item.own.size()));
    if (!small) item.left.insert(item.left.end(), pieces, pieces + count);
    item.token = token;
    item.posted = !small;
    items_.push_back(std::move(item));
}

void Outbox::append_record(const std::vector<std::uint8_t>& bytes) {
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    Item item;
    item.own.assign(data, data + bytes.size());
    item.left.push_back(plexus::module::view(item.own.data(), item.own.size()));
    items_.push_back(std::move(item));
}

void Outbox::write(int socket, std::vector<void*>& over) {
    while (has_unsent()) {
        Item& item = items_.front();
        std::array<iovec, kMostParts> parts;
        const std::size_t count = std::min(item.left.size(), kMostParts);
        for (std::size_t i = 0; i < count; ++i)
            parts[i] = {const_cast<void*>(item.left[i].data), item.left[i].size};
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = count;
        const ssize_t written = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)) return;
        if (written < 0) return break_off();
        auto done = static_cast<std::size_t>(written);
        std::size_t whole = 0;
        while (whole < count && item.left[whole].size <= done) done -= item.left[whole++].size;
        item.left.erase(item.left.begin(), item.left.begin() + static_cast<std::ptrdiff_t>(whole));
        if (item.left.empty()) {
            if (item.posted) over.push_back(item.token);
            items_.pop_front();
        } else {
            plexus_view& part = item.left.front();
            part = {static_cast<const std::byte*>(part.data) + done, part.size - done};
        }
    }
}

std::vector<void*> Outbox::drop() {
    std::vector<void*> tokens;
    for (const Item& item : items_)
        if (item.posted) tokens.push_back(item.token);
    items_.clear();
    return tokens;
}

} // namespace pipes
