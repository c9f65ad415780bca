// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/manager/job_line.h"

#include "bootstrap/manager/process_manager.h"
#include "bootstrap/url.h"

#include <algorithm>

namespace plexus::bootstrap {

std::string job_line(const std::string& key, const std::vector<std::string>& hosts, std::uint16_t port) {
    std::string line = key;
    for (const std::string& host : hosts) {
        const std::string more = "," + to_string(Url{host, port});
        if (line.size() + more.size() <= kLongestLine) line += more;
    }
    return line;
}

std::vector<std::string> hosts_to_tell(std::vector<std::string> addresses, const std::string& name) {
    const auto v6 = std::stable_partition(addresses.begin(), addresses.end(), [](const std::string& each) {
        return each.find(':') == std::string::npos;
    });
    addresses.insert(v6, name);
    return addresses;
}

std::vector<std::string> parts_of(std::string_view line) {
    std::vector<std::string> parts;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(','), line.size());
        parts.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return parts;
}

} // namespace plexus::bootstrap
