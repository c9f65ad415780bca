// SPDX-License-Identifier: BSD-3-Clause
// The contexts of the job that take part in a probe, and which context stands for which name in the map.
#pragma once

#include "tools/probe/requests.h"

#include <optional>

namespace plexus::tools::probe {

struct Member {
    std::string name; ///< in the map: its host's, or host:rank
    std::uint32_t rank = 0;
    GlobalPointer<Station> station;
    bool lost = false;
};

struct Members {
    std::vector<Member> measuring;               ///< by rank
    std::vector<GlobalPointer<Station>> resting; ///< of hosts that another context stands for
    std::vector<std::string> methods;            ///< that any of them has

    /// The member of that name, if it is here.
    std::optional<std::size_t> find(const std::string& name) const;
};

/// Asks every context of the job. The context with the least rank measures for its host; with `per_context`
/// every context measures.
/// @error not_found, timed_out, peer_lost a context does not answer (thrown)
Members meet_all(Context& here, bool per_context);

} // namespace plexus::tools::probe
