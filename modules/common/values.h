// SPDX-License-Identifier: BSD-3-Clause
// What a module's parameters mean: the texts of host->setting as values. Accepts both what
// a configuration file may say ("4 MiB", "50 us") and the plain numbers that a host may
// pass instead. Pure functions.
#pragma once

#include "base/quantity.h"
#include "plexus/module/module.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::module {

/// As duration_in(), and a bare number counts nanoseconds.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
std::optional<std::uint64_t> parse_count(std::string_view text);
std::optional<bool> parse_bool(std::string_view text);
/// Commas between; spaces around each piece and empty pieces are dropped.
std::vector<std::string> split_list(std::string_view text);

/// For links whose parameters are fixed when the module opens: says so in `why`, or that the
/// module has no parameter `key`. Returns PLEXUS_UNSUPPORTED or PLEXUS_BAD_ARGUMENT.
std::int32_t set_at_open_only(const plexus_host& host, const char* key, plexus_text& why);

/// Reads parameters at open. After the first bad one, `failed()` is true and the reason is
/// in the log.
class Parameters {
  public:
    explicit Parameters(const plexus_host& host)
      : host_(host) {}

    std::uint64_t size(const char* key, std::uint64_t least, std::uint64_t most);
    std::uint64_t count(const char* key, std::uint64_t least, std::uint64_t most);
    std::chrono::nanoseconds duration(const char* key);
    bool boolean(const char* key);
    std::string text(const char* key) const { return setting(host_, key); }
    std::vector<std::string> list(const char* key) const { return split_list(text(key)); }

    /// Logs that the value of `key` is not `wanted`.
    void refuse(const char* key, std::string_view wanted);
    bool failed() const noexcept { return failed_; }

  private:
    std::uint64_t between(const char* key, std::optional<std::uint64_t> value, std::uint64_t least,
                          std::uint64_t most, const char* kind);

    const plexus_host& host_;
    bool failed_ = false;
};

} // namespace plexus::module
