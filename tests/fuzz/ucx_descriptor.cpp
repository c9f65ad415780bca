// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the bytes by which others reach a context over ucx. The input is taken as a descriptor as
// it is, and as a descriptor's text, which gets its checksum here so that the fuzzer reaches what lies behind
// it. What decodes is written as the same bytes again, but for flags that have no meaning, and can be
// compared with any place.
#include "ucx/descriptor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

using plexus::ucx::Descriptor;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kFlagsAt =
    3 + 16 + 8 + 16; // behind versions, boot, network namespace and liveness name
constexpr std::uint8_t kFlags = 3;

void require(bool holds) {
    if (!holds) std::abort();
}

/// Proves everything by the same zeroes: who made a descriptor is not what is looked for.
plexus_host host() {
    plexus_host out{};
    out.hmac = [](void*, plexus_view, std::uint8_t proof[32]) -> std::int32_t {
        std::memset(proof, 0, 32);
        return PLEXUS_OK;
    };
    return out;
}

/// `text` with its checksum (FNV-1a, big-endian) and the host's proof.
Bytes complete(Bytes text) {
    std::uint32_t sum = 2166136261u;
    for (const std::uint8_t byte : text) sum = (sum ^ byte) * 16777619u;
    for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<std::uint8_t>(sum >> shift));
    text.resize(text.size() + Descriptor::kSealBytes);
    return text;
}

void check(const Bytes& bytes) {
    const plexus_view view{bytes.data(), bytes.size()};
    const plexus_host any = host();
    const bool sealed = Descriptor::sealed(any, view);
    const auto descriptor = Descriptor::decode(view);
    if (!descriptor) return;
    require(descriptor->transports.size() <= Descriptor::kMostTransports && !descriptor->address.empty());
    const Bytes again = descriptor->encode(any);
    require(again.size() == bytes.size());
    if (sealed && bytes[kFlagsAt] <= kFlags) require(again == bytes);

    require(descriptor->why_not(*descriptor).empty()); // itself
    Descriptor here = *descriptor;
    here.address.push_back(1);
    (void)descriptor->why_not(here);
    here.library.major ^= 1;
    require(!descriptor->why_not(here).empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(data, data + size); // a copy of exactly that size
    check(bytes);
    check(complete(bytes));
    return 0;
}
