// SPDX-License-Identifier: BSD-3-Clause
// Which provider a word of a configuration means, and what is offered to whoever mistyped it.
#include "support/catch.h"

#include "libfabric/errors.h"
#include "libfabric/providers.h"

#include <algorithm>
#include <rdma/fi_errno.h>

namespace providers_test {

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
    for (const std::string& name : names) CHECK(name.rfind("ofi_", 0) != 0); // layers over others
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("an error that passes is one of room, of either sign") {
    for (const long code : {FI_EAGAIN, FI_ENOMEM, FI_EINTR}) {
        CHECK(passes(code));
        CHECK(passes(-code));
    }
    CHECK_FALSE(passes(0));
    CHECK_FALSE(passes(-FI_ENOTCONN));
    CHECK(text_of_error(-FI_EINVAL) == text_of_error(FI_EINVAL));
}

TEST_CASE("a domain of another provider is not taken for that of one that is named") {
    Options options;
    options.providers = {"tcp"};
    options.domains = {"nowhere0"};
    const Offers found = offers(options);
    CHECK(found.chosen.empty());
    REQUIRE(found.missing.size() == 1);
    CHECK(found.missing[0].find("provider tcp is not usable: it has no domain named nowhere0") == 0);
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

TEST_CASE("without a word only a fabric is taken, and where there is none a sentence says so") {
    Options options;
    for (const bool fetch : {true, false}) {
        options.fetch = fetch;
        const Offers found = offers(options);
        CHECK(found.unknown.empty());
        // One or the other, on every machine.
        REQUIRE(found.chosen.size() + found.missing.size() == 1);
        for (const Info& one : found.chosen)
            for (const char* by_name_only : {"shm", "tcp", "net", "udp", "sockets", "ofi_mrail"})
                CHECK_FALSE(means(by_name_only, one->fabric_attr->prov_name));
        for (const std::string& sentence : found.missing)
            CHECK(sentence.find("no fabric that libfabric reaches") != std::string::npos);
    }
}

TEST_CASE("a provider that is taken by name only is not taken for the domain it has") {
    Options by_name;
    by_name.providers = {"tcp"};
    const Offers named = offers(by_name);
    REQUIRE(named.chosen.size() == 1); // every libfabric has it, and every machine a device for it
    Options options;
    options.domains = {named.chosen[0]->domain_attr->name};
    const Offers found = offers(options);
    for (const Info& one : found.chosen) CHECK_FALSE(means("tcp", one->fabric_attr->prov_name));
    REQUIRE(found.chosen.size() + found.missing.size() == 1);
    if (found.chosen.empty())
        CHECK(found.missing[0].find("no provider has domain named " + options.domains[0]) == 0);
}

} // namespace providers_test
