// SPDX-License-Identifier: BSD-3-Clause
// JSON files as the tools read them: bounded, in UTF-8, with the line of a mistake. Any thread.
#pragma once

#include "plexus/status.h"

#include <cereal/archives/json.hpp> // brings the JSON reader that cereal itself uses
#include <cstddef>
#include <string>
#include <string_view>

namespace plexus::tools::json {

#ifdef CEREAL_RAPIDJSON_NAMESPACE
namespace reader = CEREAL_RAPIDJSON_NAMESPACE;
#else // as Debian has it
namespace reader = RAPIDJSON_NAMESPACE;
#endif

using Value = reader::Value;
using Document = reader::Document;

/// A file with more is too large: read, its values need about 50 bytes each.
inline constexpr std::size_t kMostValues = std::size_t{1} << 25;
/// At least as many as this text has values, by what begins or parts them.
std::size_t values_in(std::string_view text) noexcept;

/// The whole file. @error `malformed` it is no JSON ("FILE:LINE: …"); too_large; not_found it cannot be read
/// (thrown; all begin with the file's name)
Document load(const std::string& file, std::size_t most_bytes, Status malformed);

/// The member's value; null: it is not there.
const Value* find(const Value& object, const char* name);

} // namespace plexus::tools::json
