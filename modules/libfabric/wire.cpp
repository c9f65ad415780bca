// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/wire.h"

#include "common/proof.h"

#include <bit>
#include <cstring>

namespace plexus::libfabric {
namespace {

constexpr std::size_t kMostDescriptor = 1024;

std::uint64_t little(std::uint64_t word) noexcept { // and back
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

std::byte* store(std::byte* out, std::uint64_t value, std::size_t size) noexcept {
    const std::uint64_t word = little(value);
    std::memcpy(out, &word, size);
    return out + size;
}

template <std::size_t N>
void copy_record(ByteView from, std::array<std::uint8_t, N>& out) {
    if (from.size() == N) std::memcpy(out.data(), from.data(), N);
}

template <std::size_t N>
void put_record(Bytes& out, const std::array<std::uint8_t, N>& record) {
    const auto bytes = std::as_bytes(std::span(record));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

constexpr std::string_view kPurpose = "plexus libfabric ";

} // namespace

void write_header(std::byte* out, const Header& header) noexcept {
    out = store(out, header.token, 8);
    const std::uint64_t word = std::uint64_t{header.slot & kNoSlot} |
                               std::uint64_t{static_cast<std::uint8_t>(header.kind)} << 24 |
                               std::uint64_t{header.number} << 32 | std::uint64_t{header.taken} << 48;
    store(out, word, 8);
}

Header read_header(const std::byte* from) noexcept {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), from, sizeof words);
    const std::uint64_t word = little(words[1]);
    return {little(words[0]), static_cast<std::uint32_t>(word & kNoSlot),
            static_cast<Kind>(word >> 24 & 0xff), static_cast<std::uint16_t>(word >> 32),
            static_cast<std::uint16_t>(word >> 48)};
}

std::size_t LargeNote::write(std::byte* out) const noexcept {
    std::byte* at = store(out, id, 4);
    at = store(at, revision, 4);
    at = store(at, rest, 8);
    at = store(at, head_size, 1);
    std::memcpy(at, head.data(), head_size);
    at = store(at + head_size, count, 1);
    for (std::size_t i = 0; i < count; ++i) {
        at = store(at, stretches[i].address, 8);
        at = store(at, stretches[i].key, 8);
        at = store(at, stretches[i].size, 8);
    }
    return static_cast<std::size_t>(at - out);
}

std::optional<LargeNote> LargeNote::read(ByteView bytes) {
    Reader in(bytes);
    LargeNote out;
    out.id = static_cast<std::uint32_t>(in.number(4));
    out.revision = static_cast<std::uint32_t>(in.number(4));
    out.rest = in.number(8);
    out.head_size = static_cast<std::size_t>(in.number(1));
    if (out.head_size > out.head.size()) return std::nullopt;
    const ByteView head = in.take(out.head_size);
    if (!head.empty()) std::memcpy(out.head.data(), head.data(), head.size());
    out.count = static_cast<std::size_t>(in.number(1));
    if (out.count > kMostStretches) return std::nullopt;
    std::uint64_t left = out.rest;
    for (std::size_t i = 0; i < out.count; ++i) {
        Stretch& stretch = out.stretches[i];
        stretch.address = in.number(8);
        stretch.key = in.number(8);
        stretch.size = in.number(8);
        if (stretch.size > left) return std::nullopt;
        left -= stretch.size;
    }
    if (!in.at_end() || out.rest > SIZE_MAX / 2 || (out.count > 0 && left != 0)) return std::nullopt;
    return out;
}

Bytes Hello::write() const {
    Bytes out;
    out.reserve(64 + descriptor.size() + record.size());
    put(out, kWireVersion, 1);
    put(out, slot, 4);
    put(out, token, 8);
    put(out, window, 2);
    put(out, eager, 4);
    put(out, descriptor.size(), 2);
    out.insert(out.end(), descriptor.begin(), descriptor.end());
    put_record(out, record);
    return out;
}

std::optional<Hello> Hello::read(ByteView bytes) {
    Reader in(bytes);
    Hello out;
    if (in.number(1) != kWireVersion) return std::nullopt;
    out.slot = static_cast<std::uint32_t>(in.number(4));
    out.token = in.number(8);
    out.window = static_cast<std::uint16_t>(in.number(2));
    out.eager = static_cast<std::uint32_t>(in.number(4));
    const auto size = static_cast<std::size_t>(in.number(2));
    if (size > kMostDescriptor) return std::nullopt;
    const ByteView descriptor = in.take(size);
    out.descriptor.assign(descriptor.begin(), descriptor.end());
    copy_record(in.take(out.record.size()), out.record);
    if (!in.at_end() || out.slot >= kNoSlot || out.window == 0) return std::nullopt;
    return out;
}

Bytes Answer::write() const {
    Bytes out;
    out.reserve(64 + record.size());
    put(out, kWireVersion, 1);
    put(out, slot, 4);
    put(out, token, 8);
    put(out, window, 2);
    put(out, eager, 4);
    put(out, rings ? 1 : 0, 1);
    put_record(out, record);
    return out;
}

std::optional<Answer> Answer::read(ByteView bytes) {
    Reader in(bytes);
    Answer out;
    if (in.number(1) != kWireVersion) return std::nullopt;
    out.slot = static_cast<std::uint32_t>(in.number(4));
    out.token = in.number(8);
    out.window = static_cast<std::uint16_t>(in.number(2));
    out.eager = static_cast<std::uint32_t>(in.number(4));
    out.rings = in.number(1) != 0;
    copy_record(in.take(out.record.size()), out.record);
    if (!in.at_end() || out.slot >= kNoSlot || out.window == 0) return std::nullopt;
    return out;
}

Bytes Confirm::write() const {
    Bytes out;
    out.reserve(64 + record.size());
    put(out, rings ? 1 : 0, 1);
    put_record(out, record);
    return out;
}

std::optional<Confirm> Confirm::read(ByteView bytes) {
    Reader in(bytes);
    Confirm out;
    out.rings = in.number(1) != 0;
    copy_record(in.take(out.record.size()), out.record);
    if (!in.at_end()) return std::nullopt;
    return out;
}

void sign(const plexus_host& host, Kind kind, Bytes& message) {
    module::sign(host, kPurpose, static_cast<std::uint8_t>(kind), message);
}

std::optional<ByteView> signed_part(const plexus_host& host, Kind kind, ByteView message) {
    return module::signed_part(host, kPurpose, static_cast<std::uint8_t>(kind), message);
}

std::uint64_t Reader::number(std::size_t size) {
    const ByteView bytes = take(size);
    std::uint64_t word = 0;
    if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
    return little(word);
}

ByteView Reader::take(std::size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) return {};
    const ByteView taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
}

void put(Bytes& out, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

} // namespace plexus::libfabric
