// SPDX-License-Identifier: BSD-3-Clause
// What is drawn of a schedule, and what may be said of it in numbers. Values. Pure.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <string>
#include <vector>

namespace plexus::tools::drawing {

/// `schedule` is a valid one for `graph`: its terminals, vertices and links are there.
struct Drawing {
    std::string title;
    eco::LinkGraph graph;
    eco::RoundSchedule schedule;
    eco::RoundBound bound;
};

/// "8 terminals, 12 switches, 32 links, one-port".
std::string about_network(const eco::LinkGraph& graph);

/// "7 rounds, bound 7 (terminal 0 accepts 7 messages on one link)".
std::string certificate(const Drawing& drawing);

/// So many messages each terminal is to receive; of a root that receives none 0.
std::vector<std::size_t> expected_messages(const Drawing& drawing);

/// So many messages each terminal has received by the end of round `last`, from 0.
std::vector<std::size_t> received_messages(const Drawing& drawing, std::size_t last);

/// "round 2 of 7: 8 transfers on 40 of 40 links"; rounds from 0.
std::string about_round(const Drawing& drawing, std::size_t round);

/// "0 to 4", and of a message that is not the sender's own "0 to 4, message of 2".
std::string about_transfer(const eco::Transfer& transfer);

} // namespace plexus::tools::drawing
