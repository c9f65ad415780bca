// SPDX-License-Identifier: BSD-3-Clause
// A complete function table and passport in memory, for tests to spoil. Its functions end
// the test program: the loader must not call them.
#pragma once

#include "plexus/module/abi.h"

#include <cstdlib>
#include <type_traits>

namespace plexus::testing {

template <class... Args>
std::int32_t never(Args...) {
    std::abort();
}
template <class... Args>
void never_end(Args...) {
    std::abort();
}

template <class Result, class... Args>
void fill(Result (*&slot)(Args...)) {
    if constexpr (std::is_void_v<Result>) {
        slot = never_end;
    } else {
        slot = never;
    }
}

/// One can sleep on it; it has no remote memory.
inline plexus_ops full_table() {
    plexus_ops ops{};
    ops.size = PLEXUS_OPS_SIZE;
    ops.caps = PLEXUS_CAP_SLEEP;
#define PLEXUS_SLOT(name, demand)                                                                            \
    if ((demand) != PLEXUS_CAP_REMOTE_MEMORY) fill(ops.name);
    PLEXUS_OPS_SLOTS(PLEXUS_SLOT)
#undef PLEXUS_SLOT
    return ops;
}

struct Sample {
    plexus_ops ops = full_table();
    plexus_parameter parameters[2] = {{"ring", "size", "16 KiB", "bytes"}, {"mode", "text", "", "how"}};
    plexus_passport passport{PLEXUS_ABI_MAGIC,
                             PLEXUS_ABI_MAJOR,
                             PLEXUS_ABI_MINOR,
                             "sample",
                             "a sample",
                             nullptr,
                             nullptr,
                             2,
                             sizeof(plexus_parameter)};

    Sample() {
        passport.ops = &ops;
        passport.parameters = parameters;
    }
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;
};

} // namespace plexus::testing
