// SPDX-License-Identifier: BSD-3-Clause
// The input of a job: passes what is typed, or comes through a pipe, on to rank 0 without waiting for it. One
// thread.
#pragma once

#include "base/unique_fd.h"

#include <poll.h>
#include <string>
#include <utility>

namespace plexus::bootstrap {

class JobInput {
  public:
    /// `to`: a pipe to rank 0. Empty: nothing is passed on.
    explicit JobInput(UniqueFd to = {})
      : to_(std::move(to)) {}

    /// What to wait for: more input, or room for what was read.
    pollfd wanted() const;
    /// To be called when poll() reports that: reads or writes a piece.
    void pass_on();

  private:
    UniqueFd to_;
    std::string left_; // read, but not taken by rank 0 yet
};

} // namespace plexus::bootstrap
