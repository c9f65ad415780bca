// SPDX-License-Identifier: BSD-3-Clause
#include "zstd/frame.h"

#include "common/byte_order.h"

#include <algorithm>
#include <cstring>

namespace plexus::zstd {
namespace {

constexpr std::uint64_t kSizeBits = (std::uint64_t{1} << 56) - 1;
constexpr std::uint64_t kStored = std::uint64_t{1} << 63;

} // namespace

std::size_t head_of(Pieces pieces) noexcept {
    return pieces.empty() ? 0 : std::min<std::size_t>(pieces[0].size, PLEXUS_HEAD_MAX);
}

void copy_out(Pieces pieces, std::size_t from, std::span<std::byte> out) noexcept {
    for (const plexus_view& piece : pieces) {
        if (out.empty()) return;
        if (from >= piece.size) {
            from -= piece.size;
            continue;
        }
        const std::size_t part = std::min(piece.size - from, out.size());
        std::memcpy(out.data(), static_cast<const std::byte*>(piece.data) + from, part);
        out = out.subspan(part);
        from = 0;
    }
}

bool begins_with_mark(Pieces pieces) noexcept {
    if (size_of(pieces) < kMark.size()) return false;
    std::array<std::byte, kMark.size()> first{};
    copy_out(pieces, 0, first);
    return std::memcmp(first.data(), kMark.data(), kMark.size()) == 0;
}

bool has_mark(std::span<const std::byte> bytes) noexcept {
    return bytes.size() >= kMark.size() && std::memcmp(bytes.data(), kMark.data(), kMark.size()) == 0;
}

void write_prefix(std::byte* out, const Prefix& prefix) noexcept {
    std::memcpy(out, kMark.data(), kMark.size());
    const std::uint64_t word =
        prefix.size | std::uint64_t{prefix.head} << 56 | (prefix.is_stored ? kStored : std::uint64_t{0});
    const std::uint64_t ordered = module::wire_order(word);
    std::memcpy(out + kMark.size(), &ordered, sizeof ordered);
}

const char* read_prefix(std::span<const std::byte> bytes, std::uint64_t frame_size, std::uint64_t most,
                        Prefix& prefix) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + kMark.size(), sizeof word);
    word = module::wire_order(word);
    prefix = {word & kSizeBits, static_cast<std::size_t>(word >> 56 & 0x7f), (word & kStored) != 0};
    if (prefix.head > PLEXUS_HEAD_MAX || prefix.head > prefix.size)
        return "its head is longer than a head may be";
    if (most != 0 && prefix.size > most) return "it claims more bytes than this link permits";
    if (frame_size < kPrefix + prefix.head) return "it ends within its head";
    if (frame_size > kPrefix + prefix.size) return "it is longer than what it claims to hold";
    if (prefix.is_stored && frame_size != kPrefix + prefix.size)
        return "it is shorter than what it claims to hold";
    return nullptr;
}

} // namespace plexus::zstd
