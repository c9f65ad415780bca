// SPDX-License-Identifier: BSD-3-Clause
// The tcp method's parameters as values.
#pragma once

#include "stream_link/options.h"

#include <optional>

namespace plexus::tcp {

/// Nothing: a value is bad, and the log says which.
std::optional<stream_link::Options> read_options(const plexus_host& host);

} // namespace plexus::tcp
