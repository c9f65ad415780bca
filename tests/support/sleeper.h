// SPDX-License-Identifier: BSD-3-Clause
// Polls one host like an idle program does: until there is nothing to do, then arms and
// sleeps on the module's descriptor without a time limit of its own. A wake-up that the
// module forgets leaves it asleep, and the test runs into its deadline.
#pragma once

#include "support/bare_host.h"

#include "base/unique_fd.h"

namespace plexus::testing {

class Sleeper {
  public:
    explicit Sleeper(BareHost& host);
    ~Sleeper();
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    /// True while it sleeps, or is about to.
    bool asleep() const { return asleep_; }
    std::uint64_t naps() const { return naps_; }

  private:
    void run();

    BareHost& host_;
    UniqueFd stop_;
    std::atomic<bool> asleep_{false};
    std::atomic<std::uint64_t> naps_{0};
    std::thread thread_;
};

} // namespace plexus::testing
