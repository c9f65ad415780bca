// SPDX-License-Identifier: BSD-3-Clause
#include "system/managers/manager.h"

#include "system/managers/slurm.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace plexus::testing {
namespace {

std::string set_variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr)
        throw std::runtime_error(std::string(name) + " is not set: run this test through Meson");
    return value;
}

std::string why_not(const std::string& program) {
    return std::filesystem::exists(program) ? std::string() : "there is no " + program;
}

Manager srun(const std::string& kind, const std::string& name) {
    const Slurm& slurm = shared_slurm();
    return {"srun --mpi=" + kind, "/usr/bin/env", slurm.words({"srun", "--quiet", "--mpi=" + kind}), name,
            "Slurm's srun",       slurm.why_not()};
}

constexpr const char* kOfLaunchers[] = {"SLURM_", "PMI_",      "PMIX_",      "OMPI_",
                                        "PRTE_",  "MPI_LOCAL", "PLEXUS_JOB_"};

// These tests may run in a job themselves: what its launcher says is not for theirs.
// Open MPI does not start jobs of root, nor more processes than cores, without being told.
[[maybe_unused]] const bool permitted = [] {
    std::vector<std::string> inherited;
    for (char** each = environ; *each != nullptr; ++each)
        for (const char* prefix : kOfLaunchers)
            if (std::string_view(*each).starts_with(prefix))
                inherited.emplace_back(*each, std::strcspn(*each, "="));
    for (const std::string& name : inherited) ::unsetenv(name.c_str());
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    return true;
}();

} // namespace

Manager mpirun() {
    const std::string program = "/usr/bin/mpirun.openmpi";
    return {"mpirun", program, {"--quiet"}, "PMIx", "Open MPI's mpirun", why_not(program)};
}
Manager hydra() {
    const std::string program = "/usr/bin/mpiexec.hydra";
    return {"mpiexec.hydra", program, {}, "PMI-1", "MPICH's mpiexec.hydra", why_not(program)};
}
Manager srun_pmix() { return srun("pmix", "PMIx"); }
Manager srun_pmi() { return srun("pmi2", "PMI-1"); }

const std::vector<Manager>& managers() {
    static const std::vector<Manager> usable = [] {
        std::vector<Manager> all{mpirun(), hydra(), srun_pmix(), srun_pmi()};
        std::erase_if(all, [](const Manager& each) { return !each.why_not.empty(); });
        return all;
    }();
    return usable;
}

Words job_of(const Manager& manager, int processes, const Words& program) {
    Words words = manager.options;
    words.insert(words.end(), {"-n", std::to_string(processes)});
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

Words by_rank(const std::string& zero, const std::string& others) {
    return {"/bin/sh", "-c",
            "if [ \"${PMIX_RANK:-$PMI_RANK}\" = 0 ]; then " + zero + "; else " + others + "; fi"};
}

std::string tested_helper() { return set_variable("TESTED_HELPER"); }
std::string tested_mpi_helper() { return set_variable("TESTED_MPI_HELPER"); }
std::string tested_plexus() { return set_variable("TESTED_PLEXUS"); }

Variable::Variable(const char* name, const std::string& value)
  : name_(name) {
    ::setenv(name, value.c_str(), 1);
}
Variable::~Variable() { ::unsetenv(name_); }

} // namespace plexus::testing
