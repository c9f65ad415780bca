// SPDX-License-Identifier: BSD-3-Clause
// How a lab says that this machine does not allow it, or that the system failed otherwise.
#pragma once

#include <stdexcept>
#include <string>

namespace plexus::tools::lab {

/// The exit code of `plexus lab` where the machine does not allow labs.
inline constexpr int kNotAllowedHere = 77;

struct NotAllowed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws for `errno`: NotAllowed where the machine forbids or lacks what was asked for,
/// else Error runtime_lost. `what`: "the network namespace of a host cannot be made".
[[noreturn]] void cannot(const std::string& what);
[[noreturn]] void cannot(const std::string& what, int error);

} // namespace plexus::tools::lab
