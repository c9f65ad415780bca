// SPDX-License-Identifier: BSD-3-Clause
// Just enough of a JSON reader to see that what a tool printed is JSON, and what it says.
// Strict: anything that RFC 8259 does not allow is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plexus::testing {

bool is_json(std::string_view text);

/// The value behind the first `"key":` in it, as JSON text; nothing where there is none.
std::optional<std::string> value_of(std::string_view object, std::string_view key);

/// The same as a number; nothing where there is none, or it is no number.
std::optional<double> number_of(std::string_view object, std::string_view key);

} // namespace plexus::testing
