// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/subnets.h"

#include "tools/common/json.h"

#include <cstdio>

namespace plexus::tools {

std::string to_json(const eco::Partition& partition, const eco::Map& map) {
    std::vector<std::string> subnets;
    for (const eco::Subnet& subnet : partition) {
        std::vector<std::string> hosts;
        for (const std::size_t host : subnet) hosts.push_back(json::quote(map.hosts()[host]));
        subnets.push_back(json::list(hosts));
    }
    return json::list(subnets);
}

void print(const eco::Partition& partition, const eco::Map& map) {
    for (const eco::Subnet& subnet : partition) {
        std::string line;
        for (const std::size_t host : subnet) line += (line.empty() ? "" : " ") + map.hosts()[host];
        std::printf("%s\n", line.c_str());
    }
}

} // namespace plexus::tools
