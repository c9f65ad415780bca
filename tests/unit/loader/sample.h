// SPDX-License-Identifier: BSD-3-Clause
// A complete function table and passport in memory, for tests to spoil. Its functions end
// the test program: the loader must not call them.
#pragma once

#include "plexus/module/abi.h"

#include <cstdlib>

namespace plexus::testing {

template <class... Args>
std::int32_t never(Args...) {
    std::abort();
}
template <class... Args>
void never_end(Args...) {
    std::abort();
}

inline plexus_ops full_table() {
    return {PLEXUS_OPS_SIZE, PLEXUS_CAP_SLEEP,
            never,           never_end,
            never_end,       never_end,
            never,           never,
            never,           never_end,
            never,           never,
            never,           never,
            never,           never,
            never,           never,
            nullptr,         nullptr,
            nullptr,         nullptr,
            nullptr,         nullptr};
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
