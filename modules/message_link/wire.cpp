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

void put(Bytes& out, const End& end) {
    message_link::put(out, end.slot, 4);
    message_link::put(out, end.token, 8);
    message_link::put(out, end.window, 2);
    message_link::put(out, end.eager, 4);
}

End read_end(Reader& in) {
    End out;
    out.slot = static_cast<std::uint32_t>(in.number(4));
    out.token = in.number(8);
    out.window = static_cast<std::uint16_t>(in.number(2));
    out.eager = static_cast<std::uint32_t>(in.number(4));
    return out;
}

bool makes_sense(const Reader& in, const End& end) {
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
    Reader in(bytes);
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
    message_link::put(out, kWireVersion, 1);
    put(out, end);
    message_link::put(out, descriptor.size(), 2);
    out.insert(out.end(), descriptor.begin(), descriptor.end());
    message_link::put(out, record);
    return out;
}

std::optional<Hello> Hello::read(ByteView bytes) {
    Reader in(bytes);
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
    message_link::put(out, kWireVersion, 1);
    put(out, end);
    message_link::put(out, sees ? 1 : 0, 1);
    message_link::put(out, record);
    return out;
}

std::optional<Answer> Answer::read(ByteView bytes) {
    Reader in(bytes);
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
    message_link::put(out, sees ? 1 : 0, 1);
    message_link::put(out, record);
    return out;
}

std::optional<Confirm> Confirm::read(ByteView bytes) {
    Reader in(bytes);
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

std::uint64_t Reader::number(std::size_t size) {
    const ByteView bytes = take(size);
    std::uint64_t word = 0;
    if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
    return module::wire_order(word);
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

} // namespace plexus::message_link
