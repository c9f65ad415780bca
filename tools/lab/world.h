// SPDX-License-Identifier: BSD-3-Clause
// A world for a lab: namespaces of its own for processes, network, mounts, host name and IPC. Nothing
// inside is visible outside, and everything ends with the first process, which ends with the caller,
// however the caller ends.
#pragma once

#include <functional>

namespace plexus::tools::lab {

/// Runs `inside` as the first process of a new world and returns its result, or 128 + the signal that killed
/// the process. Passes signals for a whole job on to that process. The caller is a process without threads;
/// it has joined the world's network and mounts afterwards and should end soon.
/// @error NotAllowed, Error (thrown)
int run_in_new_world(const std::function<int()>& inside);

} // namespace plexus::tools::lab
