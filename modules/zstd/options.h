// SPDX-License-Identifier: BSD-3-Clause
// What the module's parameters say: read once, then only read.
#pragma once

#include "plexus/module/module.h"

#include <cstddef>
#include <optional>
#include <string>

namespace plexus::zstd {

struct Options {
    std::string over;       ///< the inner method
    int level = 1;          ///< as libzstd counts: 1 is fast, 19 packs best
    std::size_t from = 0;   ///< smaller messages are never compressed; bytes
    bool is_always = false; ///< whatever shrinks is compressed, also where it does not pay
};

/// Nothing, and the reason in the log, if a parameter is bad.
std::optional<Options> read_options(const plexus_host& host);

} // namespace plexus::zstd
