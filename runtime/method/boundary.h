// SPDX-License-Identifier: BSD-3-Clause
// Boundaries: how far a method may reach, as `within` says in a file, on a pointer and in a row of a table,
// and whether two places are on one side of one. Pure functions.
#pragma once

#include "base/result.h"
#include "plexus/table.h"

#include <string>
#include <string_view>
#include <vector>

namespace plexus::method {

/// The parameter of every method that says how far it may reach.
inline constexpr std::string_view kWithin = "within";

struct Boundary {
    enum class Kind : std::uint8_t {
        any,    ///< anywhere
        sites,  ///< between contexts at these sites
        site,   ///< between contexts of one site
        subnet, ///< between contexts of one site whose hosts share a network, as the method's module sees to
        host,   ///< between contexts of one host
    };
    Kind kind = Kind::any;
    std::vector<std::string> sites;

    bool limits() const noexcept { return kind != Kind::any; }
    bool operator==(const Boundary&) const = default;
};

/// What the key `site` may say. @error bad_config with what would be accepted
Result<void> check_site(std::string_view name);

/// "any", "site", "subnet", "host", or names of sites with commas between. @error bad_config ditto
Result<Boundary> parse_boundary(std::string_view text);
/// parse_boundary(to_text(x)) == x
std::string to_text(const Boundary& boundary);

/// Whether a context at that place can keep it. @error bad_config with what contradicts what
Result<void> check_boundary(const Boundary& boundary, const Place& here);

/// What lies within both, which both hold at one place.
Boundary narrower(const Boundary& one, const Boundary& other);

/// What lies within either, which both hold at one place.
Boundary wider(const Boundary& one, const Boundary& other);

/// Why `there` is outside of a boundary of the context at `here`; empty: it is within.
std::string why_outside(const Boundary& boundary, const Place& here, const Place& there);
/// Why one side keeps to its subnet and the other, whose boundary is `theirs`, does not; empty: both do, or
/// none does, or both are on one host.
std::string why_one_sided(const Boundary& ours, std::string_view theirs, const Place& here,
                          const Place& there);
/// Why a row whose owner at `there` wrote this `within` is not for the context at `here`; empty: it is.
std::string why_not_for_us(std::string_view within, const Place& here, const Place& there);

} // namespace plexus::method
