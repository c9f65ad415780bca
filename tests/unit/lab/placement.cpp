// SPDX-License-Identifier: BSD-3-Clause
// Which rank is where.
#include "support/catch.h"
#include "unit/lab/networks.h"

#include "plexus/error.h"
#include "tools/lab/placement.h"

#include <algorithm>

namespace placement_test {

using namespace plexus::testing;
using namespace plexus::tools::lab;
using Hosts = std::vector<std::size_t>;

TEST_CASE("contexts are placed in blocks, by turns, by list or by chance") {
    const Network network = network_of(kTwoWires); // a b c d
    CHECK(place(network, {}) == Hosts{0, 1, 2, 3});
    CHECK(place(network, {0, 2, "block", {}}) == Hosts{0, 0, 1, 1, 2, 2, 3, 3});
    CHECK(place(network, {0, 2, "cyclic", {}}) == Hosts{0, 1, 2, 3, 0, 1, 2, 3});
    CHECK(place(network, {6, 1, "block", {}}) == Hosts{0, 0, 1, 1, 2, 3});
    CHECK(place(network, {2, 1, "block", {}}) == Hosts{0, 1});
    CHECK(place(network, {0, 1, "block", {"d", "b*2"}}) == Hosts{3, 1, 1});
    const Hosts shuffled = place(network, {8, 1, "shuffle:7", {}});
    CHECK(place(network, {8, 1, "shuffle:7", {}}) == shuffled);
    CHECK(shuffled[0] == shuffled[1]); // whole hosts change places
    Hosts sorted = shuffled;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == Hosts{0, 0, 1, 1, 2, 2, 3, 3});
    bool differs = false;
    for (int seed = 0; seed < 10; ++seed)
        differs =
            differs || place(network, {0, 1, "shuffle:" + std::to_string(seed), {}}) != Hosts{0, 1, 2, 3};
    CHECK(differs);
}

TEST_CASE("a placement that means nothing is refused with a sentence") {
    const Network network = network_of(kTwoWires);
    const std::pair<PlacementOptions, std::string> cases[] = {
        {{0, 1, "block", {"e"}}, "has no host \"e\""},
        {{0, 1, "block", {"a*x"}}, "is not a number"},
        {{0, 1, "block", {"a*0"}}, "1 to 4096 contexts"},
        {{0, 1, "sorted", {}}, "not \"sorted\""},
        {{0, 1, "shuffle:x", {}}, "is not a number"},
        {{0, 4096, "block", {}}, "too many for one machine"},
    };
    for (const auto& [options, sentence] : cases) {
        INFO(sentence);
        try {
            static_cast<void>(place(network, options));
            FAIL_CHECK("was accepted");
        } catch (const plexus::Error& error) {
            CHECK(error.status() == plexus::Status::bad_argument);
            CHECK(std::string(error.what()).find(sentence) != std::string::npos);
        }
    }
}

} // namespace placement_test
