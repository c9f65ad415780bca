// SPDX-License-Identifier: BSD-3-Clause
// Which launcher started this process, by the variables of its environment. Talks to nobody. Any thread, but
// not while another one changes the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plexus::bootstrap {

enum class Launcher : std::uint8_t {
    none,
    plexus, ///< `plexus run`
    pmix,   ///< a resource manager that speaks PMIx: Open MPI's mpirun, Slurm's srun --mpi=pmix, prterun
    pmi,    ///< one that speaks PMI-1: MPICH's mpiexec.hydra, Slurm's srun --mpi=pmi2
};

struct DetectedLauncher {
    Launcher kind = Launcher::none;
    std::string why; ///< for people: "PMIX_RANK is set, by Open MPI's mpirun"
};

/// `wanted` is the key `launcher`: "auto" takes the first one of the enumeration's order whose variables are
/// there; any other word that launcher, whatever the environment says. Where the caller of this process has
/// fewer rights than the process, no variable counts, and "auto" finds none.
DetectedLauncher detect_launcher(std::string_view wanted);

/// "plexus run", "PMIx", "PMI-1" or "none".
std::string_view name_of(Launcher launcher) noexcept;

} // namespace plexus::bootstrap
