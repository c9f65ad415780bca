// SPDX-License-Identifier: BSD-3-Clause
// An algorithm as parse_algorithm() reads it. Pure.
#pragma once

#include "plexus/eco/algorithm.h"

#include <optional>
#include <string>

namespace plexus::eco::detail {

/// Nothing: no text means this algorithm.
std::optional<std::string> text_of(const Algorithm& algorithm);

} // namespace plexus::eco::detail
