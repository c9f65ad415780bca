// SPDX-License-Identifier: BSD-3-Clause
// Joins one directory that has several addresses; some may lead elsewhere, or may not answer yet. Any thread.
#pragma once

#include "bootstrap/directory.h"

namespace plexus::bootstrap {

/// Joins the directory at the first of `urls` that accepts us. Tries all addresses again until the deadline,
/// because a host may be slow to answer while its job starts: each address has two seconds in the first round
/// and twice as long in each further round. Blocks.
/// @error as join(), with each address's last answer; at once if every address has refused us
Result<std::shared_ptr<Directory>> join_any(const std::vector<std::string>& urls, const Key& key,
                                            const ContextId& who, Clock::time_point deadline);

} // namespace plexus::bootstrap
