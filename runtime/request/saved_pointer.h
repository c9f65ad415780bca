// SPDX-License-Identifier: BSD-3-Clause
// Pointers that were saved as bytes, for the rooms of the library. Any thread.
#pragma once

#include "plexus/pointer.h"

#include <cstddef>
#include <span>

namespace plexus::transport {
class Endpoint;
}

namespace plexus::detail {

/// What PointerBase::save() gave; its way begins at `here`. @error bad_archive (thrown)
PointerBase load_pointer(transport::Endpoint& here, std::span<const std::byte> bytes);

} // namespace plexus::detail
