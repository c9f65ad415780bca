// SPDX-License-Identifier: BSD-3-Clause
// PMI_process_mapping: how PMI-1's process managers say which processes share a host. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace plexus::bootstrap {

/// How many of the first `size` processes are on the host of process `rank`. `mapping` is a list of blocks of
/// processes, "(vector,(FIRST HOST,HOSTS,PROCESSES ON EACH),…)", which begins again where it ends. 0 if it is
/// no such list.
[[nodiscard]] std::uint32_t local_size_of(std::string_view mapping, std::uint32_t rank, std::uint32_t size);

} // namespace plexus::bootstrap
