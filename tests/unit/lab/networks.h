// SPDX-License-Identifier: BSD-3-Clause
// Small networks for tests, from the text that a user would write.
#pragma once

#include "tools/lab/network_file.h"

#include <string>

namespace plexus::testing {

inline tools::lab::Network network_of(const std::string& text) {
    return tools::lab::read_network(text, "folder/test.toml");
}

/// Hosts a, b and c, d on two shared wires of 10 Mb/s with a bridge between.
inline const std::string kTwoWires = R"(
[[segment]]
name = "left"
kind = "shared"
rate = "10 Mb/s"
delay = "5 us"
hosts = ["a", "b"]
[[segment]]
name = "right"
kind = "shared"
rate = "10 Mb/s"
delay = "5 us"
hosts = ["c", "d"]
[[bridge]]
name = "bridge"
joins = ["left", "right"]
delay = "50 us"
)";

/// Hosts a, b, c on one switch of 8 Mb/s (a byte takes a microsecond), with 100 us delay.
inline const std::string kSwitched = R"(
overhead = 0
[[segment]]
name = "switch"
rate = "8 Mb/s"
delay = "100 us"
queue = "4 KiB"
hosts = ["a", "b", "c"]
)";

} // namespace plexus::testing
