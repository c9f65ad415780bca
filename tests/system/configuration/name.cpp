// SPDX-License-Identifier: BSD-3-Clause
// A context's name is seen where people look for it: in its log, and in listings.
#include "support/catch.h"
#include "system/launcher/command.h"

#include <cstdlib>

namespace name_test {

using namespace plexus::testing;

TEST_CASE("the key name is in each line of the log, in the listing, and in its JSON") {
    ::setenv("PLEXUS_WEATHER", "a warning, so that there is a line", 1);
    Command text({"info", "--plexus-name=solver %v"});
    const bool ended = text.wait() == 0;
    ::unsetenv("PLEXUS_WEATHER");
    REQUIRE(ended);
    INFO(text.out() + text.err());
    CHECK(text.out().find(" named solver %v, rank 0 of 1") != std::string::npos);
    CHECK(count_of(text.err(), " solver %v [") == count_of(text.err(), "\n"));
    CHECK(count_of(text.err(), "\n") > 0);

    Command json({"info", "--json", "--plexus-name=solver"});
    REQUIRE(json.wait() == 0);
    CHECK(json.out().find("\"name\":\"solver\"") != std::string::npos);
    Command nameless({"info"});
    REQUIRE(nameless.wait() == 0);
    CHECK(nameless.out().find("named") == std::string::npos);
}

} // namespace name_test
