// SPDX-License-Identifier: BSD-3-Clause
// Boundaries as functions of two places: who is within, what is said of those who are not, what is no
// boundary.
#include "method/boundary.h"
#include "support/catch.h"

namespace boundary_test {

using namespace plexus;
using namespace plexus::method;

namespace {

Place at(const std::string& site, std::uint8_t host = 1) {
    Place place{site, {}};
    place.host.fill(host);
    return place;
}

Boundary boundary(std::string_view text) { return parse_boundary(text).value(); }

std::string outside(std::string_view text, const Place& here, const Place& there) {
    return why_outside(boundary(text), here, there);
}

bool says(const Result<Boundary>& result, std::string_view part) {
    return !result && result.status() == Status::bad_config &&
           result.failure().why.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("whoever is within a boundary is not kept out, and whoever is outside hears why") {
    CHECK(outside("any", at("kiel"), at("oslo", 2)).empty());
    CHECK(outside("any", at(""), at("", 0)).empty());
    CHECK(outside("site", at("kiel"), at("kiel", 2)).empty());
    CHECK(outside("site", at("kiel"), at("oslo")) == "only within site kiel; the peer is at oslo");
    CHECK(outside("site", at("kiel"), at("")) == "only within site kiel; the peer names no site");
    CHECK(outside("host", at("kiel"), at("oslo")).empty());
    CHECK(outside("host", at("kiel"), at("kiel", 2)) == "only within this host; the peer is on another");
    CHECK(outside("host", at("kiel"), at("kiel", 0)) == "only within this host; the peer names no host");
    CHECK(outside("subnet", at("kiel"), at("kiel", 2)).empty());
    CHECK(outside("subnet", at(""), at("", 2)).empty());
    CHECK(outside("subnet", at("kiel"), at("oslo", 2)) == "only within this subnet; the peer is at oslo");
    CHECK(outside("subnet", at("kiel"), at("")) == "only within this subnet; the peer names no site");
    CHECK(outside("oslo, kiel", at("kiel"), at("oslo", 2)).empty());
    CHECK(outside("oslo, kiel", at("kiel"), at("bergen")) ==
          "only within sites kiel, oslo; the peer is at bergen");
    CHECK(outside("oslo, kiel", at("kiel"), at("")) ==
          "only within sites kiel, oslo; the peer names no site");
}

TEST_CASE("nothing that is not known is taken for the same") {
    CHECK_FALSE(outside("site", at(""), at("")).empty());
    CHECK_FALSE(outside("host", at("kiel", 0), at("kiel", 0)).empty());
}

TEST_CASE("what the owner of a row has written holds for whoever uses the row") {
    const Place kiel = at("kiel");
    const Place oslo = at("oslo", 2);
    CHECK(why_not_for_us("", kiel, oslo).empty());
    CHECK(why_not_for_us("any", kiel, oslo).empty());
    CHECK(why_not_for_us("kiel,oslo", kiel, oslo).empty());
    CHECK(why_not_for_us("site", kiel, kiel).empty());
    CHECK(why_not_for_us("site", kiel, oslo) ==
          "the peer takes it only within site oslo; this context is at kiel");
    CHECK(why_not_for_us("site", at(""), oslo) ==
          "the peer takes it only within site oslo; this context names no site");
    CHECK(why_not_for_us("host", kiel, oslo) ==
          "the peer takes it only within its host; this context is on another");
    CHECK(why_not_for_us("subnet", kiel, oslo) ==
          "the peer takes it only within its subnet; this context is at kiel");
    CHECK(why_not_for_us("subnet", kiel, at("kiel", 2)).empty());
    CHECK(why_not_for_us("bergen,oslo", kiel, oslo) ==
          "the peer takes it only within sites bergen, oslo; this context is at kiel");
    CHECK(why_not_for_us("kiel", kiel, oslo) ==
          "the peer takes it only within site kiel; the peer is at oslo");
    // A word of a later release.
    CHECK_FALSE(why_not_for_us("continent", kiel, oslo).empty());
}

TEST_CASE("a subnet is kept to by both sides, or on one host") {
    const Place here = at("kiel", 1);
    const Place there = at("kiel", 2);
    const auto one_sided = [](std::string_view ours, std::string_view theirs, const Place& one,
                              const Place& other) {
        return why_one_sided(boundary(ours), theirs, one, other);
    };
    CHECK(one_sided("subnet", "subnet", here, there).empty());
    CHECK(one_sided("site", "", here, there).empty());
    CHECK(one_sided("any", "kiel", here, there).empty());
    for (const char* theirs : {"", "any", "site", "kiel", "host", "continent"})
        CHECK(one_sided("subnet", theirs, here, there) ==
              "only within this subnet; the peer does not keep to its own: set within to \"subnet\" there");
    for (const char* ours : {"any", "site", "kiel", "host"})
        CHECK(
            one_sided(ours, "subnet", here, there) ==
            "the peer takes it only within its subnet; this context does not keep to its own: set within to "
            "\"subnet\" here");
    CHECK(one_sided("subnet", "", here, here).empty());
    CHECK(one_sided("host", "subnet", here, here).empty());
    CHECK_FALSE(one_sided("subnet", "", at("", 0), at("", 0)).empty()); // hosts that are not known
}

TEST_CASE("a boundary comes back from its text") {
    for (const char* text : {"any", "site", "subnet", "host", "kiel", "bergen, kiel, oslo"}) {
        CAPTURE(text);
        CHECK(to_text(boundary(text)) == text);
        CHECK(boundary(to_text(boundary(text))) == boundary(text));
    }
    CHECK(boundary(" oslo ,kiel, oslo") == boundary("kiel, oslo"));
}

TEST_CASE("what is no boundary is refused with what would be one") {
    CHECK(says(parse_boundary(""), "names of sites"));
    CHECK(says(parse_boundary("kiel,,oslo"), "names of sites"));
    CHECK(says(parse_boundary("k iel"), "\"k iel\""));
    CHECK(says(parse_boundary("site, oslo"), "\"site\" stands alone"));
    CHECK(says(parse_boundary("kiel, subnet"), "\"subnet\" stands alone"));
    CHECK(says(parse_boundary(std::string(64, 'x')), "is no boundary"));
    std::string many;
    for (int i = 100; i < 300; ++i)
        many += (many.empty() ? "" : ",") + std::string("site") + std::to_string(i);
    CHECK(says(parse_boundary(many), "do not fit"));
}

TEST_CASE("names of sites are words without a meaning of their own") {
    CHECK(check_site(""));
    CHECK(check_site("kiel-2.north_sea"));
    for (const char* bad : {"site", "host", "any", "subnet", "a b", "a,b", "kö"}) {
        CAPTURE(bad);
        CHECK_FALSE(check_site(bad));
    }
}

TEST_CASE("a rule that contradicts where a context is can't be kept") {
    CHECK(check_boundary(boundary("site"), at("kiel")));
    CHECK(check_boundary(boundary("kiel, oslo"), at("kiel")));
    CHECK(check_boundary(boundary("any"), at("", 0)));
    CHECK(check_boundary(boundary("subnet"), at("", 0)));
    CHECK_FALSE(check_boundary(boundary("site"), at("")));
    CHECK_FALSE(check_boundary(boundary("host"), at("kiel", 0)));
    CHECK_FALSE(check_boundary(boundary("kiel"), at("")));
    const auto left_out = check_boundary(boundary("oslo"), at("kiel"));
    REQUIRE_FALSE(left_out);
    CHECK(left_out.failure().why.find("add kiel") != std::string::npos);
}

TEST_CASE("of two boundaries both hold") {
    const char* const rising[] = {"any", "bergen, kiel, oslo", "kiel, oslo", "site", "subnet", "host"};
    for (std::size_t wide = 0; wide < std::size(rising); ++wide)
        for (std::size_t narrow = wide; narrow < std::size(rising); ++narrow) {
            CHECK(narrower(boundary(rising[wide]), boundary(rising[narrow])) == boundary(rising[narrow]));
            CHECK(narrower(boundary(rising[narrow]), boundary(rising[wide])) == boundary(rising[narrow]));
        }
    CHECK(narrower(boundary("bergen, kiel"), boundary("kiel, oslo")) == boundary("kiel"));
}

} // namespace boundary_test
