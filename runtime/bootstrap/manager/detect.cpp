// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/manager/detect.h"

#include "bootstrap/job.h"

#include <cstdlib>
#include <fmt/format.h>

namespace plexus::bootstrap {
namespace {

bool is_set(const char* name) {
    const char* text = ::secure_getenv(name);
    return text != nullptr && *text != '\0';
}

struct Product {
    const char* variable; ///< that this one alone sets
    const char* name;
};

constexpr Product kProducts[] = {
    {"OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"},
    {"SLURM_STEP_ID", "Slurm's srun"},
    {"MPI_LOCALNRANKS", "MPICH's mpiexec.hydra"},
    {"PRTE_LAUNCHED", "PRRTE's prterun"},
};

std::string set_by(const char* variable) {
    for (const Product& product : kProducts)
        if (is_set(product.variable)) return fmt::format("{} is set, by {}", variable, product.name);
    return fmt::format("{} is set", variable);
}

} // namespace

DetectedLauncher detect_launcher(std::string_view wanted) {
    if (wanted == "none") return {Launcher::none, "the configuration says launcher = none"};
    if (wanted == "plexus") return {Launcher::plexus, "the configuration says launcher = plexus"};
    if (wanted == "pmix") return {Launcher::pmix, "the configuration says launcher = pmix"};
    if (wanted == "pmi") return {Launcher::pmi, "the configuration says launcher = pmi"};
    for (const char* name : {kJobId, kJobRank, kJobSize, kJobLocalSize, kJobUrl, kJobKey})
        if (is_set(name)) return {Launcher::plexus, fmt::format("{} is set", name)};
    if (is_set("PMIX_RANK") && is_set("PMIX_NAMESPACE")) return {Launcher::pmix, set_by("PMIX_RANK")};
    if (is_set("PMI_FD") || is_set("PMI_PORT"))
        return {Launcher::pmi, set_by(is_set("PMI_FD") ? "PMI_FD" : "PMI_PORT")};
    if (is_set("SLURM_STEP_ID"))
        return {Launcher::none, "SLURM_STEP_ID is set, but srun offers no PMIx: start with srun --mpi=pmix"};
    return {Launcher::none, "none of PLEXUS_JOB_ID, PMIX_RANK and PMI_FD is set"};
}

std::string_view name_of(Launcher launcher) noexcept {
    switch (launcher) {
    case Launcher::plexus:
        return "plexus run";
    case Launcher::pmix:
        return "PMIx";
    case Launcher::pmi:
        return "PMI-1";
    case Launcher::none:
        break;
    }
    return "none";
}

} // namespace plexus::bootstrap
