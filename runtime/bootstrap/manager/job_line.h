// SPDX-License-Identifier: BSD-3-Clause
// The line of text by which rank 0 tells the others how to get to the job's directory: what it says of the
// key, and URLs, with commas between. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::bootstrap {

/// `key`, then the URL of each of `hosts` with `port`; those that do not fit kLongestLine are left out.
std::string job_line(const std::string& key, const std::vector<std::string>& hosts, std::uint16_t port);

/// Under what names other hosts may reach one that is called `name`: its IPv4 addresses, its name, its IPv6
/// addresses. Some hosts have so many of the last that there is no room for all.
std::vector<std::string> hosts_to_tell(std::vector<std::string> addresses, const std::string& name);

/// What is between the commas.
std::vector<std::string> parts_of(std::string_view line);

} // namespace plexus::bootstrap
