// SPDX-License-Identifier: BSD-3-Clause
// One line of log: time, level, process, subsystem, text. Rate and wording are the caller's;
// level filter ("warn", "warn,transport=debug") and destination are set here. Any thread.
#pragma once

#include <cstdint>
#include <fmt/core.h>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plexus::log {

enum class Level : std::uint8_t { trace, debug, info, warn, error, off };

/// True if a line of `level` from `subsystem` would be written: ask before building
/// anything expensive.
bool enabled(Level level, std::string_view subsystem) noexcept;

/// Writes one line if enabled. `subsystem` is a room's or a method's name.
void write(Level level, std::string_view subsystem, std::string_view text);

/// Sets the filter: a level, then any number of `subsystem=level`, commas between.
Result<void> set_filter(std::string_view filter);

/// Takes over where lines go (empty: back to standard error). Called under the log's lock:
/// it must not log. Also counts for tests which warnings were expected.
using Sink = std::function<void(Level, std::string_view subsystem, std::string_view text)>;
void set_sink(Sink sink);

template <class... Args>
void debug(std::string_view subsystem, fmt::format_string<Args...> form, Args&&... args) {
    if (enabled(Level::debug, subsystem))
        write(Level::debug, subsystem, fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
void info(std::string_view subsystem, fmt::format_string<Args...> form, Args&&... args) {
    if (enabled(Level::info, subsystem))
        write(Level::info, subsystem, fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
void warn(std::string_view subsystem, fmt::format_string<Args...> form, Args&&... args) {
    write(Level::warn, subsystem, fmt::format(form, std::forward<Args>(args)...));
}
template <class... Args>
void error(std::string_view subsystem, fmt::format_string<Args...> form, Args&&... args) {
    write(Level::error, subsystem, fmt::format(form, std::forward<Args>(args)...));
}

} // namespace plexus::log

namespace plexus {
/// A failure with a formatted sentence.
template <class... Args>
Failure fail(Status status, fmt::format_string<Args...> form, Args&&... args) {
    return {status, fmt::format(form, std::forward<Args>(args)...)};
}
} // namespace plexus
