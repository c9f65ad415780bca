// SPDX-License-Identifier: BSD-3-Clause
// Where programs of the build folder that have the rooms linked in find modules. Not part of the
// library: what is installed looks beside itself and knows of no build folder.
#include "loader/modules.h"

namespace plexus::loader {

std::vector<std::filesystem::path> default_module_path() { return {PLEXUS_BUILD_MODULES}; }

} // namespace plexus::loader
