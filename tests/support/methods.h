// SPDX-License-Identifier: BSD-3-Clause
// The modules that a test may open: built in, or from the shared objects that the command
// line names. Read on the test's thread; the answers live as long as the process.
#pragma once

#include "plexus/module/abi.h"

#include <map>
#include <string>
#include <vector>

namespace plexus::testing {

struct Method {
    std::string name;
    plexus_ops ops{}; ///< sealed: every slot may be called
    std::vector<plexus_parameter> parameters;

    /// The preset of a parameter, or null where the passport has no such key.
    const char* preset(const std::string& key) const;
};

/// A method straight from its passport, checked and sealed by the loader.
Method method_of(const plexus_passport& passport);

/// By name; throws std::runtime_error with a sentence if there is none.
const Method& find_method(const std::string& name);

/// The one that --module names.
const Method& method_under_test();

} // namespace plexus::testing
