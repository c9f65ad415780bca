// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/wire.h"

#include "common/byte_order.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace plexus::ucx {
namespace {

using module::load;
using module::store;

constexpr std::size_t kProofBytes = 32;
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

std::array<std::uint8_t, kProofBytes> proof_of(const plexus_host& host, Kind kind, ByteView message) {
    constexpr std::string_view kPurpose = "plexus ucx word";
    Bytes text(kPurpose.begin(), kPurpose.end());
    text.push_back(static_cast<std::uint8_t>(kind));
    text.insert(text.end(), message.begin(), message.end());
    std::array<std::uint8_t, kProofBytes> proof{};
    if (host.prove(host.self, module::view(text.data(), text.size()), proof.data()) != PLEXUS_OK)
        host.random(host.self, proof.data(), proof.size()); // no key: nothing shall match
    return proof;
}

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
    out.reserve(kEndBytes + record.size() + descriptor.size() + kProofBytes);
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
    out.reserve(kEndBytes + record.size() + kProofBytes);
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
    const auto proof = proof_of(host, kind, message);
    message.insert(message.end(), proof.begin(), proof.end());
}

std::optional<ByteView> signed_part(const plexus_host& host, Kind kind, ByteView message) {
    if (message.size() < kProofBytes) return std::nullopt;
    const ByteView said = message.first(message.size() - kProofBytes);
    const auto proof = proof_of(host, kind, said);
    std::uint8_t difference = 0; // in constant time: how far two proofs agree is a secret
    for (std::size_t i = 0; i < kProofBytes; ++i)
        difference = static_cast<std::uint8_t>(difference | (message[said.size() + i] ^ proof[i]));
    if (difference != 0) return std::nullopt;
    return said;
}

} // namespace plexus::ucx
