// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace plexus::module {

/// The system's sentence for an errno value. Needs no descriptor, also under a sanitizer: a virtual call, as
/// std::system_category() makes, is checked there with a pipe. @thread any
std::string system_text(int error);

/// True if the errno value means that this process, or the system, has no descriptors or no memory just now.
/// @thread any
bool is_shortage(int error) noexcept;

} // namespace plexus::module
