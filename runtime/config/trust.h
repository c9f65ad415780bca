// SPDX-License-Identifier: BSD-3-Clause
// Which configuration files count although nobody named them, and what such a file may not say:
// whoever can write it can have code loaded. Inner header of the room. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plexus::config {

/// Why the open file `fd`, found as `path`, is not to be trusted, and what to do; nothing if file and
/// folders belong to this user or root and nobody else can write to them. Both the folder in `path`
/// and, behind symbolic links, the folder that holds the file are looked at.
std::optional<std::string> distrust(int fd, const std::string& path);
/// The same for the folder in `path` alone, where the file cannot be opened.
std::optional<std::string> distrust_folder(const std::string& path);

/// True for keys that a file from the working folder may not set unless it was named: which code is
/// loaded, which keys and certificates are used, where others may connect, and who relays for whom.
bool needs_named_file(std::string_view key) noexcept;

} // namespace plexus::config
