// SPDX-License-Identifier: BSD-3-Clause
// Catches the signals that are meant for a whole job and makes them readable from a descriptor. The
// destructor restores the previous handlers. One object at a time in a process.
#pragma once

#include "base/unique_fd.h"

#include <array>
#include <csignal>
#include <optional>

namespace plexus::bootstrap {

class SignalRelay {
  public:
    static constexpr std::array<int, 7> kSignals{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

    /// `fd()` is negative if the system gave none; errno says why.
    SignalRelay();
    ~SignalRelay();
    SignalRelay(const SignalRelay&) = delete;
    SignalRelay& operator=(const SignalRelay&) = delete;

    int fd() const noexcept { return read_end_.get(); }
    /// The next signal that came, or nothing.
    std::optional<int> take();

  private:
    UniqueFd read_end_, write_end_;
    std::array<struct sigaction, kSignals.size()> before_{};
    struct sigaction pipe_before_ {};
};

} // namespace plexus::bootstrap
