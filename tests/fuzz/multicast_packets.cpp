// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: datagrams of a broadcast by IP multicast, which anybody may send. What is taken for one
// is of the group, has the data between header and tag, and is written as the same bytes again, but for the
// tag: no input has a genuine one. A datagram that this side makes of the input is genuine, and not with one
// byte changed.
#include "multicast/packet.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace plexus::eco::multicast;

constexpr std::uint64_t kGroup = 0x0102030405060708;
constexpr Key kKey{1, 2, 3};

void require(bool holds) {
    if (!holds) std::abort();
}

void check_genuine(const Packet& packet, std::uint8_t where) {
    std::vector<std::byte> made;
    encode(packet.header, packet.data, kKey, made);
    require(is_genuine(made, kKey));
    const auto read = parse(made, kGroup);
    require(read && read->header == packet.header && std::ranges::equal(read->data, packet.data));
    made[where % made.size()] ^= std::byte{1};
    require(!is_genuine(made, kKey));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto given = std::as_bytes(std::span(data, size));
    const std::vector<std::byte> bytes(given.begin(), given.end()); // a copy of exactly that size
    require(!is_genuine(bytes, kKey));
    require(!parse(bytes, kGroup + 1) || !parse(bytes, kGroup));
    const auto packet = parse(bytes, kGroup);
    if (!packet) return 0;
    require(packet->header.group == kGroup);
    require(packet->header.count == 0 || packet->header.sequence < packet->header.count);
    require(packet->data.data() == bytes.data() + kHeaderBytes);
    require(packet->data.size() + kOverhead == bytes.size());
    std::vector<std::byte> again;
    encode(packet->header, packet->data, kKey, again);
    require(std::equal(again.begin(), again.end() - kTagBytes, bytes.begin()));
    check_genuine(*packet, data[size - 1]);
    return 0;
}
