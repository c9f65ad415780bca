// SPDX-License-Identifier: BSD-3-Clause
// What a peer says of itself, and its certificate does not allow: whoever checks takes no request of it.
#include "contexts.h"

#include "authority.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/log_guard.h"

#include <atomic>

namespace claims_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::tls_contexts;

namespace {

using Settings = std::map<std::string, std::string>;

struct Counted {};
constexpr Request<void(Counted&)> count_request{"claims.count"};

struct Member {
    Member(Authority& authority, const std::string& certificate, Settings more,
           const std::string& method = "tls")
      : context(given(authority, certificate, std::move(more), method))
      , bound(context.bind(object)) {
        context.on(count_request, [this](Counted&) { ++count; });
    }
    static Options given(Authority& authority, const std::string& certificate, Settings more,
                         const std::string& method) {
        Options made = options(method);
        for (const auto& [key, value] : authority.settings(authority.sign(certificate)))
            made.set["method.tls." + key] = value;
        for (auto& [key, value] : more) made.set[key] = value;
        made.set["progress.close_timeout"] = "2 s";
        return made;
    }
    GlobalPointer<Counted> to(const Member& other) {
        return GlobalPointer<Counted>::load(context, other.bound.pointer().save());
    }

    Counted object;
    std::atomic<int> count{0};
    Context context;
    Bound<Counted> bound;
};

std::string refusal_of(const GlobalPointer<Counted>& far) {
    try {
        far.call(count_request).get();
    } catch (const Error& error) { return error.what(); }
    return "it was answered";
}

const Settings kSites{{"site", "kiel"}, {"method.tls.sites", "*.kiel.example=kiel, *.oslo.example=oslo"}};
const Settings kNames{
    {"name", "ice"}, {"method.tls.contexts", "*.oslo.example=ocean, a.kiel.example=ice, *.oslo.example=ice"}};

} // namespace

TEST_CASE("a peer that says it is at a site for which its certificate is not is refused, whoever began") {
    const std::string method = GENERATE("tls", "tls?over=shm", "zstd?over=tls");
    CAPTURE(method);
    const TmpDir folder;
    Authority authority(folder, "authority");
    Member kiel(authority, "a.kiel.example", kSites, method);
    const auto line = expect_warning("it says that it is at site");
    SECTION("it is called") {
        Member pretender(authority, "b.oslo.example", {{"site", "kiel"}}, method);
        const std::string why = refusal_of(kiel.to(pretender));
        CHECK(why.find("it says that it is at site kiel: its certificate has no name that may say so") !=
              std::string::npos);
    }
    SECTION("it calls") {
        Member pretender(authority, "b.oslo.example", {{"site", "kiel"}}, method);
        CHECK(refusal_of(pretender.to(kiel)) != "it was answered");
        CHECK(kiel.count == 0);
    }
    SECTION("nobody may say that it is there") {
        Member pretender(authority, "b.oslo.example", {{"site", "bergen"}}, method);
        CHECK(refusal_of(pretender.to(kiel)) != "it was answered");
        CHECK(kiel.count == 0);
    }
    CHECK(line.count() == 1);
}

TEST_CASE("a peer whose certificate is for its site is believed, and one that names no site says nothing") {
    const std::string method = GENERATE("tls", "zstd?over=tls");
    CAPTURE(method);
    const TmpDir folder;
    Authority authority(folder, "authority");
    Member kiel(authority, "a.kiel.example", kSites, method);
    Member oslo(authority, "b.oslo.example", {{"site", "oslo"}}, method);
    Member nowhere(authority, "c.elsewhere.example", {}, method);
    for (Member* other : {&oslo, &nowhere}) {
        kiel.to(*other).call(count_request).get();
        other->to(kiel).call(count_request).get();
        CHECK(other->count == 1);
    }
    CHECK(kiel.count == 2);
}

TEST_CASE("a peer that has a name for which its certificate is not has no request carried out") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    Member ice(authority, "a.kiel.example", kNames);
    {
        Member ocean(authority, "b.oslo.example", {{"name", "ocean"}});
        Member second(authority, "c.oslo.example", {{"name", "ice"}});
        Member nameless(authority, "d.elsewhere.example", {});
        for (Member* good : {&ocean, &second, &nameless}) good->to(ice).call(count_request).get();
        CHECK(ice.count == 3);
    }
    const auto line = expect_warning("it says that its name is atmosphere: its certificate has no name");
    Member pretender(authority, "b.oslo.example", {{"name", "atmosphere"}});
    CHECK(refusal_of(pretender.to(ice)) != "it was answered");
    CHECK(ice.count == 3);
    CHECK(line.count() == 1);
}

} // namespace claims_test
