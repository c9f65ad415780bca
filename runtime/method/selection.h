// SPDX-License-Identifier: BSD-3-Clause
// Which row of a table carries a pointer's requests: a pure function of the table and of
// what holds here. Knows no connection, no clock, no network. transport/route.h calls it for a pointer, also
// with the program's policy.
#pragma once

#include "plexus/table.h"

#include <functional>
#include <string>

namespace plexus::method {

/// Whether one row can be used from here, as the method's own module says.
struct Applicable {
    bool applies = false;
    std::string because;
};

/// Answers for each descriptor of a table; the same answer for the same descriptor.
using Surroundings = std::function<Applicable(const Descriptor&)>;

/// First row that applies, in table order (Nexus, section 3.2). The trail holds every row
/// up to and including the one taken, or all rows where none applies.
Choice first_applicable(const DescriptorTable& table, const Surroundings& here);

/// The same, but goes on after the row taken, so that the trail holds a verdict on every row.
Choice explain(const DescriptorTable& table, const Surroundings& here);

} // namespace plexus::method
