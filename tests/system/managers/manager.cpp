// SPDX-License-Identifier: BSD-3-Clause
#include "system/managers/manager.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace plexus::testing {
namespace {

std::string set_variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr)
        throw std::runtime_error(std::string(name) + " is not set: run this test through Meson");
    return value;
}

std::string found(const char* path) { return std::filesystem::exists(path) ? path : std::string(); }

// Open MPI does not start jobs of root, nor more processes than cores, without being told.
[[maybe_unused]] const bool permitted = [] {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    return true;
}();

} // namespace

Manager mpirun() { return {found("/usr/bin/mpirun.openmpi"), {"--quiet"}, "PMIx"}; }
Manager hydra() { return {found("/usr/bin/mpiexec.hydra"), {}, "PMI-1"}; }

Words job_of(const Manager& manager, int processes, const Words& program) {
    Words words = manager.options;
    words.insert(words.end(), {"-n", std::to_string(processes)});
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

std::string tested_helper() { return set_variable("TESTED_HELPER"); }
std::string tested_plexus() { return set_variable("TESTED_PLEXUS"); }

Variable::Variable(const char* name, const std::string& value)
  : name_(name) {
    ::setenv(name, value.c_str(), 1);
}
Variable::~Variable() { ::unsetenv(name_); }

} // namespace plexus::testing
