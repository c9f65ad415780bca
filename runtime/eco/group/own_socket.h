// SPDX-License-Identifier: BSD-3-Clause
// The processor package that this process runs on, from sysfs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace plexus::eco::detail {

/// The package of these processors, such as "0". Empty: they belong to several, or `processors` of sysfs
/// does not tell. @thread any
std::string socket_of(const std::vector<std::size_t>& which,
                      const std::filesystem::path& processors = "/sys/devices/system/cpu");

/// Of the processors that the process's main thread may use. @thread any
std::string own_socket();

} // namespace plexus::eco::detail
