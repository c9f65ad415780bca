// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/wire.h"

#include "common/byte_order.h"
#include "common/proof.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace plexus::ucx {
namespace {

using module::load;
using module::store;

constexpr std::size_t kEndBytes = 12;

void put(Bytes& out, const End& end) {
    std::array<std::uint8_t, kEndBytes> room;
    store(room.data(), end.slot);
    store(room.data() + 4, end.token);
    for (const std::uint8_t byte : room) out.push_back(byte);
}

End end_of(ByteView bytes) {
    return {load<std::uint32_t>(bytes.data()), load<std::uint64_t>(bytes.data() + 4)};
}

constexpr std::string_view kPurpose = "plexus ucx word";

} // namespace

void Header::write(std::uint8_t* out) const noexcept {
    store(out, token);
    store(out + 8, slot);
    store(out + 12, number);
    out[14] = static_cast<std::uint8_t>(kind);
    out[15] = head;
}

Header Header::read(const void* from) noexcept {
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    return {load<std::uint64_t>(bytes), load<std::uint32_t>(bytes + 8), load<std::uint16_t>(bytes + 12),
            static_cast<Kind>(bytes[14]), bytes[15]};
}

Bytes Hello::write() const {
    Bytes out;
    out.reserve(kEndBytes + record.size() + descriptor.size() + module::kProofBytes);
    put(out, end);
    out.insert(out.end(), record.begin(), record.end());
    out.insert(out.end(), descriptor.begin(), descriptor.end());
    return out;
}

std::optional<Hello> Hello::read(ByteView bytes) {
    Hello out;
    if (bytes.size() < kEndBytes + out.record.size()) return std::nullopt;
    out.end = end_of(bytes);
    bytes = bytes.subspan(kEndBytes);
    std::copy_n(bytes.begin(), out.record.size(), out.record.begin());
    bytes = bytes.subspan(out.record.size());
    out.descriptor.assign(bytes.begin(), bytes.end());
    return out;
}

Bytes Answer::write() const {
    Bytes out;
    out.reserve(kEndBytes + record.size() + module::kProofBytes);
    put(out, end);
    out.insert(out.end(), record.begin(), record.end());
    return out;
}

std::optional<Answer> Answer::read(ByteView bytes) {
    Answer out;
    if (bytes.size() != kEndBytes + out.record.size()) return std::nullopt;
    out.end = end_of(bytes);
    std::copy_n(bytes.begin() + kEndBytes, out.record.size(), out.record.begin());
    return out;
}

void sign(const plexus_host& host, Kind kind, Bytes& message) {
    module::sign(host, kPurpose, static_cast<std::uint8_t>(kind), message);
}

std::optional<ByteView> signed_part(const plexus_host& host, Kind kind, ByteView message) {
    return module::signed_part(host, kPurpose, static_cast<std::uint8_t>(kind), message);
}

} // namespace plexus::ucx
