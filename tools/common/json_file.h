// SPDX-License-Identifier: BSD-3-Clause
// JSON files as the tools read them: bounded, in UTF-8, with the line of a mistake. Any thread.
#pragma once

#include "plexus/status.h"

#include <cereal/archives/json.hpp> // brings the JSON reader that cereal itself uses
#include <cstddef>
#include <string>

namespace plexus::tools::json {

#ifdef CEREAL_RAPIDJSON_NAMESPACE
namespace reader = CEREAL_RAPIDJSON_NAMESPACE;
#else // as Debian has it
namespace reader = RAPIDJSON_NAMESPACE;
#endif

using Value = reader::Value;
using Document = reader::Document;

/// The whole file. @error `malformed` it is no JSON ("FILE:LINE: …"); too_large; not_found it cannot be read
/// (thrown; all begin with the file's name)
Document load(const std::string& file, std::size_t most_bytes, Status malformed);

/// The member's value; null: it is not there.
const Value* find(const Value& object, const char* name);

} // namespace plexus::tools::json
