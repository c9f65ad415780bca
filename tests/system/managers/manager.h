// SPDX-License-Identifier: BSD-3-Clause
// Jobs that are started by the process managers of others, as a user starts them.
#pragma once

#include "support/catch.h"
#include "system/launcher/command.h"

#include <string>

namespace plexus::testing {

struct Manager {
    std::string program; ///< where it lies; empty: it is not installed
    Words options;       ///< before -n
    std::string name;    ///< as Plexus calls it
};

Manager mpirun(); ///< Open MPI's: PMIx
Manager hydra();  ///< MPICH's mpiexec: PMI-1

/// `processes` of `program`.
Words job_of(const Manager& manager, int processes, const Words& program);

std::string tested_helper();
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

/// Ends a test case where the process manager is not installed.
#define NEEDS(manager)                                                                                       \
    do {                                                                                                     \
        if ((manager).program.empty())                                                                       \
            SKIP_TEST((manager).name + " has no process manager on this machine");                           \
    } while (false)

} // namespace plexus::testing
