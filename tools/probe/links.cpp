// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/links.h"

#include <algorithm>
#include <limits>

namespace plexus::tools::probe {
namespace {

constexpr std::size_t kMostLoad = 3;

/// Places of members, by subnet.
std::vector<std::vector<std::size_t>> present_in(const eco::Partition& subnets,
                                                 std::span<const std::size_t> here) {
    std::vector<std::vector<std::size_t>> out;
    for (const eco::Subnet& subnet : subnets) {
        auto& present = out.emplace_back();
        for (const std::size_t host : subnet) {
            const auto member = std::find(here.begin(), here.end(), host);
            if (member != here.end()) present.push_back(static_cast<std::size_t>(member - here.begin()));
        }
    }
    return out;
}

LinkParts inside(const std::vector<std::size_t>& hosts, std::size_t subnet) {
    LinkParts out{hosts[0], hosts[1], subnet, true, {}, {}};
    for (std::size_t at = 2; at < hosts.size(); ++at) {
        if (out.senders.size() < kMostLoad) out.senders.push_back(hosts[at]);
        if (at % 2 == 1 && out.others.size() < kMostLoad) out.others.push_back({hosts[at - 1], hosts[at]});
    }
    return out;
}

LinkParts between(const std::vector<std::size_t>& hosts, const std::vector<std::size_t>& far,
                  std::size_t subnet) {
    LinkParts out{hosts[0], far[0], subnet, false, {}, {}};
    for (std::size_t at = 1; at < std::min({hosts.size(), far.size(), kMostLoad + 1}); ++at)
        out.others.push_back({hosts[at], far[at]});
    for (const auto* side : {&far, &hosts})
        for (std::size_t at = 1; at < side->size() && out.senders.size() < kMostLoad; ++at)
            out.senders.push_back((*side)[at]);
    return out;
}

} // namespace

std::vector<std::size_t> answering(const std::vector<Member>& members, std::span<const std::size_t> here) {
    constexpr std::size_t kNoHost = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> out(here.begin(), here.end());
    for (std::size_t at = 0; at < out.size(); ++at)
        if (members[at].lost) out[at] = kNoHost;
    return out;
}

std::vector<LinkParts> links_of(const eco::Partition& subnets, std::span<const std::size_t> here) {
    const auto present = present_in(subnets, here);
    std::vector<LinkParts> out;
    for (std::size_t at = 0; at < present.size(); ++at)
        if (present[at].size() > 1) out.push_back(inside(present[at], at));
    for (std::size_t from = 0; from < present.size(); ++from)
        for (std::size_t to = from + 1; to < present.size(); ++to)
            if (!present[from].empty() && !present[to].empty())
                out.push_back(between(present[from], present[to], from));
    return out;
}

} // namespace plexus::tools::probe
