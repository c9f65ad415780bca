// SPDX-License-Identifier: BSD-3-Clause
// A job that contexts join and leave while it runs, with groups of those who are there: two, eight, three.
// Main thread.
#pragma once

#include <plexus/plexus.h>

#include <string>

namespace elastic {

/// A process of the job that the launcher started: takes part in all three groups. Rank 0 decides when to
/// form them, and says where others may join.
int run_member(plexus::Context& here);

/// A process from outside: takes part in the next `groups` of them, then leaves.
int run_guest(const std::string& url, const std::string& key_file, const std::string& name, int groups);

} // namespace elastic
