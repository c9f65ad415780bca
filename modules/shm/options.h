// SPDX-License-Identifier: BSD-3-Clause
// The module's parameters as values, checked against each other.
#pragma once

#include "plexus/module/module.h"
#include "shm/copy_choice.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace plexus::shm {

/// `copy`: automatic measures; cma uses cross-memory attach for all messages above `eager`.
enum class CopyPolicy : std::uint8_t { automatic, cached, nontemporal, cma };

/// What decides how one message travels; each link has its own copy, changed by `set`.
struct Limits {
    std::uint64_t eager = 0; ///< larger messages are fetched or streamed
    bool fetch = false;      ///< use cross-memory attach at all, where the kernel permits
    CopyPolicy policy = CopyPolicy::automatic;
    /// From this size on the sender copies past its caches; empty: as `policy` says.
    std::optional<std::uint64_t> past_caches_from;
    /// Bytes behind the head from which on messages above `eager` are fetched; empty: as `policy` says.
    std::optional<std::uint64_t> fetch_from;

    /// The strategies for a message of `size` bytes, `rest` of them behind its head.
    CopySet allowed(std::uint64_t size, std::uint64_t rest, bool can_fetch) const noexcept;
};

struct Options {
    std::uint32_t ring_lines = 0;
    std::uint64_t inline_bytes = 0; ///< larger messages leave the ring
    std::uint64_t area_bytes = 0;
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
