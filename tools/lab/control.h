// SPDX-License-Identifier: BSD-3-Clause
// The control connection of a running lab: one request, one answer, both text, over a local socket
// with an abstract name, so that no file can be left behind.
//
//   report json | report text | verdict | reset | up PART | down PART | rate PART RATE
//
// An answer starts with "ok\n", or with "no\n" and a sentence that says why.
#pragma once

#include "runtime/base/unique_fd.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace plexus::tools::lab {

struct Answer {
    bool ok = false;
    std::string text;
};

/// A socket on which the lab of the process `lab` listens.
/// @error NotAllowed, Error (thrown)
UniqueFd listen_as(pid_t lab);
/// Labs of this machine that listen, by their processes.
std::vector<pid_t> running_labs();
/// A connection to one of them.
/// @error Error not_found (thrown)
UniqueFd connect_to(pid_t lab);

/// Both ends of a connection, for a lab's own use.
struct Pair {
    UniqueFd a, b;
};
Pair connected_pair();

/// One question over a connection; waits for the answer, five seconds at most.
/// @error Error peer_lost (thrown)
Answer ask(int connection, const std::string& request);

/// For the lab: the next request; empty when there is none, or the other end has gone.
std::string take_request(int connection);
void give_answer(int connection, const Answer& answer);

} // namespace plexus::tools::lab
