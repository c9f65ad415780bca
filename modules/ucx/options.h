// SPDX-License-Identifier: BSD-3-Clause
// The ucx method's parameters as values. Read once at open; pure values after that.
#pragma once

#include "message_link/settings.h"
#include "plexus/module/abi.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plexus::ucx {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Slots of the queue in which a context receives over shared memory.
inline constexpr unsigned kHostQueue = 256;

struct Options {
    std::vector<std::string> tls;         ///< empty: fabrics, where there are any
    std::vector<std::string> net_devices; ///< empty: all
    Variables env;                        ///< UCX_* variables by their names without "UCX_"
    message_link::Settings links;
    std::uint64_t eager = 0;  ///< largest message that is copied, and delivered out of our memory
    std::uint64_t remote = 0; ///< smallest get or put that UCX moves without the peer; 0: none
    std::uint64_t queue = 0;  ///< bytes of one link that UCX may hold

    bool on_host_only() const; ///< all transports that are named stay on this host
};

/// Nothing: the reason is in the log.
std::optional<Options> read_options(const plexus_host& host);

/// "UCX_RNDV_THRESH=64k; MAX_RNDV_RAILS=1" as names and values; nothing if that is not what
/// `text` is.
std::optional<Variables> parse_variables(std::string_view text);

/// Commas between.
std::string joined(const std::vector<std::string>& words);

} // namespace plexus::ucx
