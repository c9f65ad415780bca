// SPDX-License-Identifier: BSD-3-Clause
#include "udp/datagram.h"

#include "plexus/module/handshake.h"

#include <algorithm>

namespace plexus::udp {
namespace {

using module::Handshake;

bool has_right_size(Kind kind, std::size_t rest) noexcept {
    switch (kind) {
    case Kind::hello:
        return rest == Handshake::kHelloBytes;
    case Kind::answer:
        return rest == Handshake::kAnswerBytes;
    case Kind::confirm:
        return rest == Handshake::kConfirmBytes;
    case Kind::sealed:
        return rest > kTagBytes;
    }
    return false;
}

void put(std::uint64_t value, std::size_t bytes, std::uint8_t* to) noexcept {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}

} // namespace

std::size_t most_message(std::size_t mtu, bool v4) noexcept {
    const std::size_t before = v4 ? kBefore4 : kBefore6;
    const std::size_t payload = std::min(mtu - std::min(mtu, before), kMostPayload);
    return payload - std::min(payload, kOverhead);
}

void encode(const Header& header, std::uint8_t* to) noexcept {
    to[0] = static_cast<std::uint8_t>(header.kind);
    to[1] = kVersion;
    put(0, 2, to + 2);
    put(header.to, 4, to + 4);
    put(header.number, 8, to + 8);
}

std::optional<Datagram> decode(Bytes bytes) noexcept {
    if (bytes.size() < Header::kBytes || bytes[1] != kVersion || bytes[2] != 0 || bytes[3] != 0)
        return std::nullopt;
    Datagram out;
    out.header.kind = static_cast<Kind>(bytes[0]);
    out.header.to = static_cast<std::uint32_t>(module::detail::read_number(bytes.subspan(4, 4)));
    out.header.number = module::detail::read_number(bytes.subspan(8, 8));
    out.rest = bytes.subspan(Header::kBytes);
    if (!has_right_size(out.header.kind, out.rest.size())) return std::nullopt;
    return out;
}

} // namespace plexus::udp
