// SPDX-License-Identifier: BSD-3-Clause
// One directory under several addresses, of which some may lead elsewhere, or nowhere yet. Any thread.
#pragma once

#include "bootstrap/directory.h"

namespace plexus::bootstrap {

/// join() at the first of `urls` that lets us in. Goes round until the deadline, since a host may be slow to
/// answer while its job starts: each address has two seconds in the first round, and twice as long in each
/// further one. Blocks.
/// @error as join(), with what each address said last; at once where every one of them has refused us
Result<std::shared_ptr<Directory>> join_any(const std::vector<std::string>& urls, const Key& key,
                                            const ContextId& who, Clock::time_point deadline);

} // namespace plexus::bootstrap
