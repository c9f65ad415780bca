// SPDX-License-Identifier: BSD-3-Clause
// Everything that contexts of the coupled model ask of each other, declared once.
#pragma once

#include "budget.h"
#include "mailroom.h"

#include <plexus/plexus.h>

#include <cstdint>
#include <span>
#include <string>

namespace climate {

class Coordinator;

/// How one context spent its time in a run.
struct RunSummary {
    std::uint32_t rank = 0;
    double seconds = 0;  // of stepping, all in all
    double inside = 0;   // s of that in halo exchange
    double between = 0;  // s of that in exchange with the other model
    std::string methods; // "shm shm, tcp"
};
PLEXUS_FIELDS(RunSummary, rank, seconds, inside, between, methods)

/// Rows for box number ..., exchange number ...
inline constexpr plexus::Request<void(Mailroom&, std::uint32_t, std::uint64_t, std::span<const double>)>
    deliver{"climate.deliver"};
/// Answered by whoever is there: the connection stands.
inline constexpr plexus::Request<void(Mailroom&)> hello{"climate.hello"};

inline constexpr plexus::Request<void(Coordinator&, RunSummary, std::span<const RowBudget>)> report{
    "climate.report"};
/// Temperatures from this row of a model's grid on; the flag says whether they are the sea's.
inline constexpr plexus::Request<void(Coordinator&, bool, std::uint32_t, std::span<const double>)> show{
    "climate.show"};

} // namespace climate
