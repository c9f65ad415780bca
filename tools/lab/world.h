// SPDX-License-Identifier: BSD-3-Clause
// A world for a lab: namespaces of its own for processes, network, mounts, host name and
// IPC, so that whatever happens in it stays in it, and all of it ends with its first
// process. That one ends with the caller, however the caller ends.
#pragma once

#include <functional>

namespace plexus::tools::lab {

/// Runs `inside` as the first process of a new world and returns what it returns, or 128 +
/// the signal that killed it. Signals for a whole job are passed on to it meanwhile. The
/// caller is a process without threads, and has joined the world's network and mounts
/// afterwards: it should end soon.
/// @error NotAllowed, Error (thrown)
int run_in_new_world(const std::function<int()>& inside);

} // namespace plexus::tools::lab
