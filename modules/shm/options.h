// SPDX-License-Identifier: BSD-3-Clause
// The module's parameters as values, checked against each other.
#pragma once

#include "plexus/module/module.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace plexus::shm {

/// What decides how one message travels; each link has its own copy, changed by `set`.
struct Limits {
    std::uint64_t eager = 0;      ///< larger messages are fetched or streamed
    std::uint64_t fetch_from = 0; ///< bytes behind the head from which on cross-memory attach is used
    bool fetch = false;           ///< use it at all, where the kernel permits
};

struct Options {
    std::uint32_t ring_lines = 0;
    std::uint64_t inline_bytes = 0; ///< larger messages leave the ring
    std::uint64_t area_bytes = 0;
    std::uint64_t past_caches_from = 0; ///< from this size on the sender copies past its caches
    Limits limits;
    bool insist_on_fetch = false; ///< warn where the kernel doesn't permit
    std::uint32_t hot = 0;
    std::chrono::nanoseconds connect_timeout{};
    std::chrono::nanoseconds linger{};
    std::chrono::nanoseconds area_idle{};
};

/// Empty: a value is bad, the reason is in the log.
std::optional<Options> read_options(const plexus_host& host);

/// One parameter of a running link. Not OK: `why` has the reason.
std::int32_t change(Limits& limits, const Options& options, std::string_view key, std::string_view value,
                    std::string& why);

} // namespace plexus::shm
