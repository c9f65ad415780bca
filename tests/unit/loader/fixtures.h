// SPDX-License-Identifier: BSD-3-Clause
// Where the build has put what the tests load: filled in by the build (fixtures.cpp.in).
#pragma once

namespace plexus::testing {

extern const char* const kFixtures;     ///< shared objects of these tests
extern const char* const kBuiltModules; ///< the modules of this build

} // namespace plexus::testing
