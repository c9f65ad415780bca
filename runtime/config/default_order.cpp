// SPDX-License-Identifier: BSD-3-Clause
// The built-in order of methods: data, and the only place in runtime/ where modules have
// names. The nearest first; what is not there is passed over.
#include "config/settings.h"

namespace plexus::config {

std::string_view default_methods() noexcept { return "local, shm, ucx, libfabric, tcp, forward"; }

} // namespace plexus::config
