// SPDX-License-Identifier: BSD-3-Clause
// Jobs that are started by the process managers of others, as a user starts them.
#pragma once

#include "support/catch.h"
#include "system/launcher/command.h"

#include <string>
#include <vector>

namespace plexus::testing {

struct Manager {
    std::string title;   ///< "srun --mpi=pmix"
    std::string program; ///< where it lies
    Words options;       ///< before -n
    std::string name;    ///< as Plexus calls it
    std::string by;      ///< as Plexus calls who set the variables
    std::string why_not; ///< why it cannot be used on this machine; empty if it can
};

Manager mpirun();    ///< Open MPI's: PMIx
Manager hydra();     ///< MPICH's mpiexec: PMI-1
Manager srun_pmix(); ///< Slurm's, which starts with the first call
Manager srun_pmi();  ///< its PMI-1

/// Those of the four that can be used here.
const std::vector<Manager>& managers();

/// `processes` of `program`.
Words job_of(const Manager& manager, int processes, const Words& program);

/// A program for job_of(): the shell's command `zero` in rank 0, `others` in the other ranks.
Words by_rank(const std::string& zero, const std::string& others);

std::string tested_helper();
std::string tested_mpi_helper(); ///< with an MPI library that is never initialized
std::string tested_plexus();

/// Sets a variable of this process, which the commands get, for the object's lifetime.
class Variable {
  public:
    Variable(const char* name, const std::string& value);
    ~Variable();
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* const name_;
};

/// Ends a test case where the process manager cannot be used.
#define NEEDS(manager)                                                                                       \
    do {                                                                                                     \
        if (!(manager).why_not.empty()) SKIP_TEST((manager).title + ": " + (manager).why_not);               \
    } while (false)

} // namespace plexus::testing
