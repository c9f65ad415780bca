// SPDX-License-Identifier: BSD-3-Clause
#include "tls/records.h"

namespace plexus::tls {

std::optional<std::size_t> record_size(std::span<const std::byte> head) noexcept {
    const auto at = [head](std::size_t i) { return std::to_integer<std::size_t>(head[i]); };
    constexpr std::size_t kFirstKind = 20; // change_cipher_spec
    constexpr std::size_t kLastKind = 23;  // application_data
    if (head.size() < kRecordHead || at(0) < kFirstKind || at(0) > kLastKind || at(1) != 3)
        return std::nullopt;
    const std::size_t size = kRecordHead + (at(3) << 8 | at(4));
    return size <= kMostRecord ? std::optional(size) : std::nullopt;
}

std::size_t RecordReader::take(const Owner& owner, std::span<const std::byte> bytes, std::uint32_t& budget) {
    std::size_t at = 0;
    while (corrupt_ == nullptr && budget > 0 && !owner.given_up.load(std::memory_order_relaxed)) {
        const std::span left = bytes.subspan(at);
        if (left.size() < kRecordHead) break;
        const std::optional<std::size_t> size = record_size(left);
        if (!size) {
            corrupt_ = "what arrives is no record of TLS";
            break;
        }
        if (left.size() < *size) break;
        owner.host.deliver(owner.cookie, {left.data(), *size});
        at += *size;
        --budget;
    }
    return at;
}

std::size_t RecordReader::enough(std::span<const std::byte> bytes) const noexcept {
    return bytes.size() < kRecordHead ? kRecordHead : record_size(bytes).value_or(kRecordHead);
}

} // namespace plexus::tls
