// SPDX-License-Identifier: BSD-3-Clause
// What a row of the method `forward` says: through which context its owner is reached, and by which rows that
// one is. Pure; bytes come from the wire and are checked.
#pragma once

#include "base/result.h"
#include "plexus/pointer.h"
#include "wire/table.h"

#include <cstdint>
#include <string>

namespace plexus::forward {

inline constexpr std::size_t kLongestUrl = 255;
/// A row may lead through so many forwarders, one behind the other.
inline constexpr unsigned kMostHops = 8;

struct Via {
    std::uint8_t instance =
        0;            ///< which module of the owner takes the links: a method may work over `forward`
    std::string name; ///< the forwarder's key `name`, or empty
    std::string
        url{}; ///< where the forwarder was found: whoever loses it asks there who relays now; or empty
    detail::Target hub;    ///< the forwarder's object that hop requests are for
    DescriptorTable table; ///< the forwarder's own

    /// "gate (1be4dae2)", or "1be4dae2".
    std::string text() const;
};

/// At most `limit` bytes: URLs are left out first, then the longest of the forwarder's rows. Empty: it does
/// not fit without any of these.
wire::Bytes encode(Via via, std::size_t limit);
/// @error bad_archive it is none, or of another version
Result<Via> decode(wire::View bytes);
/// How many forwarders lie on the way, by the shortest chain.
/// @error no_method the chain leads through `self` or twice through one context, or is longer than kMostHops
Result<unsigned> hops(const Via& via, const ContextId& self);
/// The first eight digits of an identity.
std::string short_text(const ContextId& id);

} // namespace plexus::forward
