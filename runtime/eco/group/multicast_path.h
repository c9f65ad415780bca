// SPDX-License-Identifier: BSD-3-Clause
// What a member says about its multicast when a group is made: as text, which the members gather.
#pragma once

#include "group/group_state.h"

#include <string>
#include <string_view>

namespace plexus::eco::detail {

/// From the context's settings. @error bad_config eco.multicast_interface is no address (thrown)
std::string offer_text(const Context& context);
/// Off, if it is no such text.
MulticastOffer parse_offer(std::string_view text);

} // namespace plexus::eco::detail
