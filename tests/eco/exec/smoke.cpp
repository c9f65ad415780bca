// SPDX-License-Identifier: BSD-3-Clause
// Each operation by the pattern that a group takes by itself, against a sequential reference.
#include "party.h"

#include <numeric>

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

TEST_CASE("a group broadcasts and meets at a barrier") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    const Rank members = GENERATE(1u, 2u, 3u, 5u);
    CAPTURE(methods, members);
    Party party(members, methods);
    CHECK(first_of(party.run([](const Group& all) -> std::string {
              for (Rank root = 0; root < all.size(); ++root)
                  for (const std::size_t size : {0, 1, 7, 100'000}) {
                      std::vector<int> data(size);
                      if (all.rank() == root) std::iota(data.begin(), data.end(), static_cast<int>(root));
                      all.broadcast(std::span(data), root);
                      for (std::size_t i = 0; i < size; ++i)
                          if (data[i] != static_cast<int>(root + i))
                              return "wrong element " + std::to_string(i);
                      all.barrier();
                  }
              double sum = all.all_reduce(1.0 + all.rank(), std::plus<>{});
              if (sum != all.size() * (all.size() + 1) / 2.0) return "wrong sum";
              return {};
          })) == "");
}
