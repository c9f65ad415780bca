// SPDX-License-Identifier: BSD-3-Clause
// What a context relays between others that cannot reach each other (Nexus, section 3.3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plexus {

/// A value; see Context::forward().
struct ForwardRules {
    /// Names (key `name`) of the contexts that others may reach through this one; "all" for every context
    /// that attaches here, whatever its name. Empty: nothing is relayed.
    std::vector<std::string> allow;
    /// The most bytes that are held for all relayed links together. Each has the same share: a slow receiver
    /// slows its own sender, and no other.
    std::uint64_t memory = std::uint64_t{64} << 20;
    std::uint32_t links = 64; ///< the most links relayed at once, at least 1
};

} // namespace plexus
