// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the tcp method's descriptor, whose bytes come in pointers from anybody. What is taken for
// one is written as the same bytes again, and leads to addresses that a connection may be tried at.
#include "stream_link/descriptor.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using plexus::stream_link::Descriptor;

void require(bool holds) {
    if (!holds) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::uint8_t> bytes(data, data + size); // a copy of exactly that size
    const auto descriptor = Descriptor::decode({bytes.data(), bytes.size()});
    if (!descriptor) return 0;
    require(descriptor->encode() == bytes);
    require(descriptor->port != 0);
    require(!descriptor->addresses.empty() && descriptor->addresses.size() <= Descriptor::kMostAddresses);

    plexus::module::Surroundings here = descriptor->where;
    require(!here.same_network(here) ||
            descriptor->reachable_from(here).size() == descriptor->addresses.size());
    here.boot[0] ^= 1;
    for (const auto& address : descriptor->reachable_from(here)) require(!address.is_loopback());
    require(!descriptor->why_not(here).empty());
    return 0;
}
