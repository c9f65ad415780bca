// SPDX-License-Identifier: BSD-3-Clause
// Who stands for a subnet when models are acquired, and who makes load.
#include "tools/probe/links.h"
#include "support/catch.h"

#include <algorithm>

namespace links_test {

using namespace plexus;
using namespace plexus::tools::probe;
using plexus::eco::HostPair;

TEST_CASE("two hosts stand for a subnet, and one of each for the way between two") {
    // Members 0 to 6 are the hosts 10 to 16 of the map; host 20 is not here.
    const std::vector<std::size_t> here{10, 11, 12, 13, 14, 15, 16};
    const std::vector<LinkParts> links = links_of({{10, 11, 12, 13, 14}, {20}, {15, 16}}, here);
    REQUIRE(links.size() == 3);
    CHECK((links[0].inside && links[0].from == 0 && links[0].to == 1 && links[0].subnet == 0));
    CHECK(links[0].others == std::vector<HostPair>{{2, 3}});
    CHECK(links[0].senders == std::vector<std::size_t>{2, 3, 4});
    CHECK((links[1].inside && links[1].from == 5 && links[1].to == 6 && links[1].subnet == 2));
    CHECK(links[1].others.empty());
    CHECK(links[1].senders.empty());
    CHECK((!links[2].inside && links[2].from == 0 && links[2].to == 5 && links[2].subnet == 0));
    CHECK(links[2].others == std::vector<HostPair>{{1, 6}});
    CHECK(links[2].senders == std::vector<std::size_t>{6, 1, 2}); // the receiver's neighbour first
    CHECK(links_of({{0}}, std::vector<std::size_t>{0}).empty());
}

TEST_CASE("a host that is lost stands for nothing, and its subnet has another one") {
    const std::vector<std::size_t> here{10, 11, 12, 13, 14};
    std::vector<Member> members(5);
    members[0].lost = true;
    members[3].lost = true;
    const std::vector<LinkParts> links = links_of({{10, 11, 12}, {13, 14}}, answering(members, here));
    REQUIRE(links.size() == 2); // of the second subnet one host is left
    CHECK((links[0].inside && links[0].from == 1 && links[0].to == 2));
    CHECK((links[0].others.empty() && links[0].senders.empty()));
    CHECK((!links[1].inside && links[1].from == 1 && links[1].to == 4));
    CHECK(links[1].senders == std::vector<std::size_t>{2});
    CHECK(answering(std::vector<Member>(5), here) == here);
}

TEST_CASE("hosts that make load are in no pair twice, and are not those that are measured") {
    eco::Partition subnets(2);
    std::vector<std::size_t> here;
    for (std::size_t host = 0; host < 30; ++host) {
        subnets[host % 2].push_back(host);
        here.push_back(host);
    }
    for (const LinkParts& link : links_of(subnets, here)) {
        std::vector<std::size_t> all{link.from, link.to};
        for (const HostPair& pair : link.others) all.insert(all.end(), {pair.a, pair.b});
        CHECK(all.size() == 8);
        std::sort(all.begin(), all.end());
        CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
        CHECK(link.senders.size() == 3);
        for (const std::size_t sender : link.senders) CHECK((sender != link.from && sender != link.to));
    }
}

} // namespace links_test
