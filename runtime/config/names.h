// SPDX-License-Identifier: BSD-3-Clause
// How one key is spelled in each source, and what to say of a name that is not known.
// Inner header of the room: pure functions.
#pragma once

#include "config/settings.h"

namespace plexus::config {

/// What the name of each variable begins with.
inline constexpr std::string_view kVariable = "PLEXUS_";

/// "method.tcp.sndbuf" -> "PLEXUS_METHOD_TCP_SNDBUF".
std::string variable_of(std::string_view key);

/// Variables that mean something to Plexus without being keys: the file's name, and what the
/// launcher tells its processes.
bool is_reserved(std::string_view variable) noexcept;

/// The sentences for names that `schema` lacks; `origin` says where they were written.
Failure unknown_key(const Schema& schema, std::string_view key, std::string_view origin);
Failure unknown_variable(const Schema& schema, std::string_view variable);

/// True if `variable` is a slip of a key's variable, or begins like those of a section ("method"):
/// false says that it may belong to another program.
bool resembles_key(const Schema& schema, std::string_view variable);

/// "; did you mean \"tcp\"?", or nothing if no known word is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

/// In lower case; ASCII letters only: the micro sign stays as it is.
std::string lower(std::string_view text);

/// "local, shm, tcp".
std::string joined(const std::vector<std::string>& words);

} // namespace plexus::config
