// SPDX-License-Identifier: BSD-3-Clause
// `plexus info --measure`: which methods there are, what they cost between two contexts of
// this machine, and the order that follows.
#pragma once

#include "tools/common/command_line.h"

#include <string>

namespace plexus::tools {

/// Prints findings and recommendation; `output`: also writes the configuration to this new
/// file. The exit code: kNo if no method could be measured.
/// @error bad_config, not_found, busy (the file exists), runtime_lost; thrown
int measure(const CommandLine& line, const std::string& output);

} // namespace plexus::tools
