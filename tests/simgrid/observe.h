// SPDX-License-Identifier: BSD-3-Clause
// The experiments of plexus::eco::acquire() between two simulated hosts. Called from an actor.
#pragma once

#include "player.h"

#include "plexus/eco/acquire.h"
#include "plexus/eco/fit.h"

#include <cstdint>
#include <vector>

enum class Choice : std::uint8_t {
    plogp,  ///< no other model than pLogP
    judged, ///< Hockney, LogP, LogGP and pLogP: the choice is plexus::eco::choose()'s
};

/// Acquires models of the link between two hosts, and measures messages and gaps that judge them.
std::vector<plexus::eco::ModelFit> models_between(simgrid::s4u::Host* one, simgrid::s4u::Host* other,
                                                  Sending sending, Choice choice, std::uint64_t most_bytes);
