// SPDX-License-Identifier: BSD-3-Clause
// What a test program was asked on its command line beyond Catch2's own options:
//   --module NAME        the module under test
//   --object NAME=FILE   take this module from a shared object instead of built in
//   --set KEY=VALUE      a parameter of the module under test; "tcp.sndbuf" of another
// Read once by main, then only read.
#pragma once

#include <map>
#include <string>

namespace plexus::testing {

struct Arguments {
    std::string module;
    std::map<std::string, std::string> objects;
    std::map<std::string, std::string> settings;
};

const Arguments& arguments();

} // namespace plexus::testing
