// SPDX-License-Identifier: BSD-3-Clause
// A schedule as pictures in SVG: the network, and over it the ways of a round's transfers. Pure.
#pragma once

#include "tools/schedule/show/drawing.h"
#include "tools/schedule/show/wiring.h"

#include <optional>
#include <string>

namespace plexus::tools::drawing {

/// Of one picture; a page has no such limit.
inline constexpr std::size_t kMostPictures = 36;

/// The number of the colour of a sender's ways, of kColours; others for terminals that differ by a power of
/// two.
inline constexpr std::size_t kColours = 8;
std::size_t colour_of(std::uint32_t sender);

/// Colours and line styles of networks, for a page or a picture. The colours of ways are the properties w0 to
/// w7, the tips of their arrows tip0 to tip7.
std::string network_style(std::string_view element);

/// The network with the first round, to be put into a page. Terminals are groups with the class `terminal`
/// and their number as `data-terminal`; a circle of the class `has` in each is as dense as its share of what
/// it has received. The ways are in the group `ways`.
std::string network_svg(const Drawing& drawing, const Wiring& wiring);

/// One picture by itself: every round small beside the others, the first kMostPictures with a line that says
/// how many are left out; or one round alone. Light and dark as the viewer prefers.
/// @param round from 0 @error bad_argument there is no such round (thrown)
std::string schedule_svg(const Drawing& drawing, std::optional<std::size_t> round);

} // namespace plexus::tools::drawing
