// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/wire.h"

#include "common/byte_order.h"
#include "common/proof.h"

#include <cstring>

namespace plexus::message_link {
namespace {

constexpr std::string_view kPurpose = "plexus message link";

std::byte* store(std::byte* out, std::uint64_t value, std::size_t size) noexcept {
    const std::uint64_t word = module::wire_order(value);
    std::memcpy(out, &word, size);
    return out + size;
}

void put_end(Bytes& out, const End& end) {
    module::put(out, end.slot, 4);
    module::put(out, end.token, 8);
    module::put(out, end.window, 2);
    module::put(out, end.eager, 4);
}

End read_end(ByteReader& in) {
    End out;
    out.slot = static_cast<std::uint32_t>(in.number(4));
    out.token = in.number(8);
    out.window = static_cast<std::uint16_t>(in.number(2));
    out.eager = static_cast<std::uint32_t>(in.number(4));
    return out;
}

bool makes_sense(const ByteReader& in, const End& end) {
    return in.at_end() && end.slot < kNoSlot && end.window > 0;
}

} // namespace

void Header::write(std::byte* out) const noexcept {
    out = store(out, token, 8);
    const std::uint64_t word = std::uint64_t{slot & kNoSlot} |
                               std::uint64_t{static_cast<std::uint8_t>(kind)} << 24 |
                               std::uint64_t{number} << 32 | std::uint64_t{taken} << 48;
    store(out, word, 8);
}

Header Header::read(const std::byte* from) noexcept {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), from, sizeof words);
    const std::uint64_t word = module::wire_order(words[1]);
    return {module::wire_order(words[0]), static_cast<std::uint32_t>(word & kNoSlot),
            static_cast<Kind>(word >> 24 & 0xff), static_cast<std::uint16_t>(word >> 32),
            static_cast<std::uint16_t>(word >> 48)};
}

std::size_t Announcement::write(std::byte* out) const noexcept {
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

std::optional<Announcement> Announcement::read(ByteView bytes) {
    ByteReader in(bytes);
    Announcement out;
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
    module::put(out, kWireVersion, 1);
    put_end(out, end);
    module::put(out, descriptor.size(), 2);
    out.insert(out.end(), descriptor.begin(), descriptor.end());
    module::put(out, record);
    return out;
}

std::optional<Hello> Hello::read(ByteView bytes) {
    ByteReader in(bytes);
    Hello out;
    if (in.number(1) != kWireVersion) return std::nullopt;
    out.end = read_end(in);
    const auto size = static_cast<std::size_t>(in.number(2));
    if (size > kMostDescriptor) return std::nullopt;
    const ByteView descriptor = in.take(size);
    out.descriptor.assign(descriptor.begin(), descriptor.end());
    in.fill(out.record);
    if (!makes_sense(in, out.end)) return std::nullopt;
    return out;
}

Bytes Answer::write() const {
    Bytes out;
    out.reserve(64 + record.size());
    module::put(out, kWireVersion, 1);
    put_end(out, end);
    module::put(out, sees ? 1 : 0, 1);
    module::put(out, record);
    return out;
}

std::optional<Answer> Answer::read(ByteView bytes) {
    ByteReader in(bytes);
    Answer out;
    if (in.number(1) != kWireVersion) return std::nullopt;
    out.end = read_end(in);
    out.sees = in.number(1) != 0;
    in.fill(out.record);
    if (!makes_sense(in, out.end)) return std::nullopt;
    return out;
}

Bytes Confirm::write() const {
    Bytes out;
    out.reserve(64 + record.size());
    module::put(out, sees ? 1 : 0, 1);
    module::put(out, record);
    return out;
}

std::optional<Confirm> Confirm::read(ByteView bytes) {
    ByteReader in(bytes);
    Confirm out;
    out.sees = in.number(1) != 0;
    in.fill(out.record);
    if (!in.at_end()) return std::nullopt;
    return out;
}

void sign(const plexus_host& host, Kind kind, Bytes& message) {
    module::sign(host, kPurpose, static_cast<std::uint8_t>(kind), message);
}

std::optional<ByteView> signed_part(const plexus_host& host, Kind kind, ByteView message) {
    return module::signed_part(host, kPurpose, static_cast<std::uint8_t>(kind), message);
}

} // namespace plexus::message_link
