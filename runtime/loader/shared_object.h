// SPDX-License-Identifier: BSD-3-Clause
// The border to the dynamic loader: from a file to the passport in it, unread.
// Inner header of the room.
#pragma once

#include "base/result.h"
#include "plexus/module/abi.h"

#include <filesystem>

namespace plexus::loader {

/// Maps a shared object and finds its passport. The object stays mapped while the process
/// lives, also when it is refused later: its constructors have run, and what they started or
/// registered (threads, exit handlers, thread-local destructors) would jump into a hole.
/// @error bad_module not a file, not a shared object (the system's text), or without a passport
Result<const plexus_passport*> open_passport(const std::filesystem::path& file);

} // namespace plexus::loader
