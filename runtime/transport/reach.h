// SPDX-License-Identifier: BSD-3-Clause
// Which rows of a table may be used from here, and why not the others: the module's own criterion, the
// boundaries of both sides' files, what was tried in vain. Asks, and changes nothing. @thread any
#pragma once

#include "method/prescription.h"
#include "method/selection.h"
#include "transport/endpoint.h"

#include <string>

namespace plexus::transport {

/// What holds here about a row, of messages that must not be lost. `there`: where the row's table says that
/// its context is; what that context itself has said goes before.
method::Applicable applicable(const Endpoint& here, const Peer* peer, const Descriptor& row,
                              const Place& there);
/// Of requests that a program has marked so that they may be lost: they alone go by such methods.
method::Applicable applicable_to_unreliable(const Endpoint& here, const Peer* peer, const Descriptor& row,
                                            const Place& there);
/// The same question to all rows of a table.
method::Surroundings surroundings(const Endpoint& here, const Peer* peer, const DescriptorTable& table);

/// What the file says of the boundary of a method with these abilities. `used`: the method is one of this
/// context's; of the others only what can't be right whichever methods are used is refused. @error bad_config
/// with the key and its origin
Result<method::Boundary> boundary_in(const config::Settings& settings, std::string_view method,
                                     std::uint32_t caps, const Place& here, bool used);
/// Whether a method has such parameters of a connection, each with such a value.
/// @error bad_config with what it has, or what would be accepted
Result<void> check_parameters(const Interface& method, const Parameters& parameters);
/// The boundary that a pointer asks for in this row of its own; it limits nothing: the pointer asks for none.
method::Boundary asked_boundary(const Descriptor& row);

/// Why no link by that row may lead to the owner of a table; empty: neither side's file forbids it.
std::string forbids(const Endpoint& here, const Interface& interface, std::string_view row,
                    const DescriptorTable& table);
/// Whether a link's module believes what the peer says of itself; nothing said is believed.
/// @error denied it does not @error link_lost the link has ended
Result<void> check_claim(const Link& link, plexus_claim what, const std::string& said);
/// A link was refused for that: one line of the log for each peer and reason.
void warn_of_refusal(Endpoint& here, const Peer& peer, const std::string& row, const std::string& why);

/// The row as its module sees it: a pointer's boundary is the runtime's affair.
Descriptor for_module(Descriptor row);

/// What selection finds for each row of a table, first of those that it prescribes.
Choice explain(const Endpoint& here, const DescriptorTable& table);

/// What went by a method so far.
BothWays traffic_of(const Endpoint& here, const Interface& interface);

} // namespace plexus::transport
