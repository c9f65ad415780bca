// SPDX-License-Identifier: BSD-3-Clause
// A real Slurm for tests: munged with a key of its own, slurmctld, and a slurmd for each of two nodes, all as
// the user who runs the tests, on loopback, in a folder of their own. The daemons die with the process that
// made the object, even by SIGKILL; a job that runs at that moment would be left. Test's thread.
#pragma once

#include "support/tmpdir.h"
#include "system/launcher/command.h"

#include <deque>
#include <string>

namespace plexus::testing {

class Slurm {
  public:
    /// Blocks until both nodes take jobs, for half a minute at most.
    Slurm();
    /// Ends all jobs and daemons.
    ~Slurm();
    Slurm(const Slurm&) = delete;
    Slurm& operator=(const Slurm&) = delete;

    /// Why it does not run here; empty if it does.
    const std::string& why_not() const noexcept { return why_not_; }
    /// What `env` has to be told to run this command of Slurm's.
    Words words(const Words& command) const;
    std::string folder() const { return folder_.path().string(); }

  private:
    std::string missing_program() const;
    void configure() const;
    void start_daemon(const std::string& name, const std::string& command);
    std::string last_words() const;

    const TmpDir folder_;
    std::string why_not_;
    std::deque<Command> daemons_; // in the order in which they started
};

/// That of the test program, started when first asked for.
const Slurm& shared_slurm();

} // namespace plexus::testing
