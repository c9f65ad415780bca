// SPDX-License-Identifier: BSD-3-Clause
// Where the build put the modules that these tests check.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace plexus::testing {

inline std::string file_in(const char* variable, const std::string& name) {
    const char* folder = std::getenv(variable);
    if (folder == nullptr)
        throw std::runtime_error(std::string(variable) + " is not set: run this test through Meson");
    return std::string(folder) + "/plexus_" + name + ".so";
}

/// The module of faulty.cpp with this fault; "needs_gone" is another.
inline std::string faulty(const std::string& fault) { return file_in("TESTED_MODULES", fault); }
/// One of the loader's tests' files, which are nearly modules.
inline std::string nearly(const std::string& name) { return file_in("TESTED_FIXTURES", name); }

} // namespace plexus::testing
