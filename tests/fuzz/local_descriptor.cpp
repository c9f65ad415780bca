// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the bytes by which contexts of one process know each other. What is read must write the
// same bytes; nothing but this process's own token applies.
#include "local/descriptor.h"

#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using plexus::local::Descriptor;
    Descriptor descriptor;
    const bool read = Descriptor::read({data, size}, descriptor);
    if (read != (size == Descriptor::kBytes)) std::abort();
    if (!read) return 0;
    char again[Descriptor::kBytes];
    descriptor.write(again);
    if (std::memcmp(again, data, size) != 0) std::abort();
    return 0;
}
