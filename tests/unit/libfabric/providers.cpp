// SPDX-License-Identifier: BSD-3-Clause
// Which provider a word of a configuration means, and what is offered to whoever mistyped it.
#include "support/catch.h"

#include "libfabric/providers.h"

#include <algorithm>

using namespace plexus::libfabric;

TEST_CASE("a word means a provider with or without the layers on top of it") {
    CHECK(means("tcp", "tcp;ofi_rxm"));
    CHECK(means("tcp;ofi_rxm", "tcp;ofi_rxm"));
    CHECK(means("net", "net"));
    CHECK_FALSE(means("tcp;ofi_rxm", "tcp"));
    CHECK_FALSE(means("tc", "tcp"));
    CHECK_FALSE(means("ofi_rxm", "tcp;ofi_rxm"));
}

TEST_CASE("what libfabric has is known by name, and so is what it may lack") {
    const auto names = provider_names();
    for (const char* wanted : {"tcp", "shm", "efa", "cxi", "verbs"})
        CHECK(std::find(names.begin(), names.end(), wanted) != names.end());
    CHECK(std::is_sorted(names.begin(), names.end()));
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("a list is offered in its own order, and what is missing has its sentence") {
    Options options;
    options.fetch = true;
    options.providers = {"bgq", "shm", "tcp", "no_such"};
    const Offers found = offers(options);
    REQUIRE(found.chosen.size() == 2);
    CHECK(std::string(found.chosen[0]->fabric_attr->prov_name) == "shm");
    CHECK(means("tcp", found.chosen[1]->fabric_attr->prov_name));
    REQUIRE(found.missing.size() == 1);
    CHECK(found.missing[0].find("provider bgq is not usable") == 0);
    REQUIRE(found.unknown.size() == 1);
    CHECK(found.unknown[0].find("libfabric has no provider \"no_such\"; it has ") == 0);
}

TEST_CASE("without a word neither shared memory nor a provider that only layers is taken") {
    Options options;
    for (const bool fetch : {true, false}) {
        options.fetch = fetch;
        const Offers found = offers(options);
        CHECK(found.unknown.empty());
        for (const Info& one : found.chosen) {
            CHECK_FALSE(means("shm", one->fabric_attr->prov_name));
            CHECK_FALSE(means("sockets", one->fabric_attr->prov_name));
        }
    }
}
