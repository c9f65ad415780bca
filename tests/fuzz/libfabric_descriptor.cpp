// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the bytes by which others reach a context over libfabric. What decodes is written as the
// same bytes again, stays within its bounds, and can be compared with any place.
#include "libfabric/descriptor.h"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace plexus::libfabric;

void require(bool holds) {
    if (!holds) std::abort();
}

bool within_bounds(const std::string& text) {
    return !text.empty() && text.size() <= Address::kMostText &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = [&] { // a copy of exactly that size
        const auto all = std::as_bytes(std::span(data, size));
        return Bytes(all.begin(), all.end());
    }();
    const auto descriptor = Descriptor::decode(bytes);
    if (!descriptor) return 0;
    require(descriptor->encode() == bytes && bytes.size() <= plexus::message_link::kMostDescriptor);
    const Address& address = descriptor->address;
    require(within_bounds(address.provider) && within_bounds(address.fabric));
    require(!address.name.empty() && address.name.size() <= Address::kMostName);

    // A context with the same address reaches it from everywhere, unless the address stays on one host.
    std::string why;
    const auto chosen = choose(Descriptor{}, std::span(&address, 1), *descriptor, why);
    require(chosen.has_value() == why.empty());
    require(chosen.has_value() || address.reach != Reach::fabric);
    Address other = address;
    other.provider += "x";
    require(!choose(*descriptor, std::span(&other, 1), *descriptor, why) && !why.empty());
    return 0;
}
