// SPDX-License-Identifier: BSD-3-Clause
// The common part of the command lines that start jobs: variables and settings for the job's processes.
#pragma once

#include "plexus/launch.h"

#include <string>
#include <vector>

namespace plexus::tools {

/// From the words of -x: NAME=VALUE, or NAME alone, which must be set here.
/// @error bad_argument names the verb (thrown, as plexus::Error)
NamesAndValues variables_from(const std::vector<std::string>& words, const char* verb);

/// From the words of --set: KEY=VALUE.
/// @error bad_argument names the verb (thrown)
NamesAndValues settings_from(const std::vector<std::string>& words, const char* verb);

} // namespace plexus::tools
