// SPDX-License-Identifier: BSD-3-Clause
// Files that are whole at any time. Knows nothing of what they hold. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace plexus::tools {

/// Writes `text` beside `file` and renames it into its place, so that a reader sees the old or the new text
/// whole. A symbolic link stays one. @error bad_config it exists and is no regular file; not_found it cannot
/// be written (thrown)
void replace_file(const std::string& file, std::string_view text);

} // namespace plexus::tools
