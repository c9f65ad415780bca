// SPDX-License-Identifier: BSD-3-Clause
// Groups whose members reach each other through a forwarder alone.
#include "eco/group/party.h"
#include "unit/forward/sites.h"

#include <algorithm>

namespace forwarded_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

TEST_CASE("members that reach each other through a forwarder alone broadcast, reduce and meet") {
    constexpr Rank kMembers = 4;
    Context gate(gate_options("gate", {{"site", "gate"}}));
    // Each reaches the forwarder by tcp, and no other member.
    std::vector<std::unique_ptr<Context>> members;
    for (Rank rank = 0; rank < kMembers; ++rank) {
        const std::string site = "site" + std::to_string(rank);
        members.push_back(std::make_unique<Context>(behind(
            gate.url(),
            {{"site", site}, {"method.tcp.within", site + ", gate"}, {"method.forward.within", "any"}})));
    }
    Party party(std::move(members));
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (const std::size_t size : {std::size_t{1}, std::size_t{1'000}, std::size_t{300'000}}) {
                  for (Rank root = 0; root < all.size(); ++root) {
                      std::vector<std::uint64_t> data(size, all.rank() == root ? 7 + size + root : 0);
                      all.broadcast(std::span(data), root);
                      if (data.front() != 7 + size + root || data.back() != data.front())
                          return "wrong data of " + std::to_string(root);
                  }
                  std::vector<std::uint64_t> sum(size, all.rank() + 1);
                  all.all_reduce(std::span(sum), std::plus<>{});
                  if (sum.front() != 10 || sum.back() != 10) return "wrong sum";
                  all.barrier();
              }
              return {};
          })) == "");
    for (Rank rank = 0; rank < kMembers; ++rank)
        for (const LaneReport& lane : party.context(rank).lanes()) {
            CAPTURE(rank, lane.method);
            if (lane.method == "forward") CHECK(lane.traffic.messages_sent > 0);
            if (lane.method == "tcp") CHECK(lane.traffic.links == 1); // with the forwarder
        }
}

} // namespace forwarded_test
