// SPDX-License-Identifier: BSD-3-Clause
// The libfabric method's parameters as values. Read once at open; pure values after that.
#pragma once

#include "message_link/settings.h"
#include "plexus/module/abi.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::libfabric {

struct Options {
    std::vector<std::string> providers; ///< best first; empty: the fastest there is
    std::vector<std::string> domains;   ///< best first; empty: any
    message_link::Settings links;
    std::size_t eager = 0; ///< bytes
    bool fetch = true;     ///< large messages are read by their receiver, where the provider can
    std::size_t buffers = 0;
};

/// Nothing: a value is bad, and the log says which.
std::optional<Options> read_options(const plexus_host& host);

} // namespace plexus::libfabric
