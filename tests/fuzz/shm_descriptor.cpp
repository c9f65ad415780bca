// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the bytes by which others reach a context over shared memory. What decodes must encode to
// the same bytes, and be comparable with any place.
#include "shm/descriptor.h"

#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace plexus::shm;
    const auto descriptor = decode({data, size});
    if (!descriptor) {
        const auto any = encode({});
        if (size == any.size() && any[0] == data[0]) std::abort(); // every such text is one
        return 0;
    }
    const auto again = encode(*descriptor);
    if (size != again.size() || std::memcmp(again.data(), data, size) != 0) std::abort();
    Descriptor here;
    here.user = descriptor->user;
    (void)why_not(here, *descriptor);
    // With itself it differs in nothing, unless nobody knows the boot or the network namespace.
    const char* const reason = why_not(*descriptor, *descriptor);
    const bool known = descriptor->place.boot != decltype(descriptor->place.boot){} &&
                       descriptor->place.network_namespace != 0;
    if (known && reason != nullptr) std::abort();
    return 0;
}
