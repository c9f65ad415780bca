// SPDX-License-Identifier: BSD-3-Clause
// Prescriptions: the methods, and their parameters, that a pointer's table fixes for whoever uses the
// pointer. What is asked of a table later narrows that and never widens it. Pure functions.
#pragma once

#include "base/result.h"
#include "method/list.h"
#include "plexus/table.h"

#include <string_view>

namespace plexus::method {

/// Whether the text of a table that came from elsewhere prescribes something: a list in the form that
/// to_text() gives it, nothing excluded, boundaries that are some. @error bad_config with what is wrong
Result<void> check_prescription(std::string_view text);

/// The rows that a list names among those that the table prescribes, or among all, in its order, with its
/// parameters over the prescribed ones; none: it names none of them.
/// @error bad_config a boundary wider than the prescribed one
Result<DescriptorTable> named_rows(const std::vector<ListItem>& list, const DescriptorTable& table);

/// The rows to choose from: those that the table prescribes, with their parameters, or all of it. Where a row
/// has a boundary of its own as well, the narrower holds.
DescriptorTable prescribed_rows(const DescriptorTable& table);

/// The text that prescribes these rows: prescribed_rows() of a table that has it gives them again.
std::string prescription_of(const DescriptorTable& rows);

/// Adds what a prescription says to a choice among prescribed_rows(): of the row taken that it was
/// prescribed, and of each other row of the table why it was not looked at.
void tell_prescription(Choice& choice, const DescriptorTable& table);

} // namespace plexus::method
