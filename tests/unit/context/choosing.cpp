// SPDX-License-Identifier: BSD-3-Clause
// Which method carries a pointer's requests: the table, preferences, policies, and what happens
// when a preference cannot be met.
#include "contexts.h"

#include <algorithm>

namespace choosing_test {

using namespace plexus;
using namespace plexus::testing;

struct Bell {};
constexpr Request<int(Bell&, int)> ring{"choosing.ring"};

struct Owner {
    explicit Owner(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(ring, [](Bell&, int times) { return times + 1; });
        bound = context.bind(bell);
    }
    Bell bell;
    Context context;
    Bound<Bell> bound;
};

std::vector<std::string> methods_of(const DescriptorTable& table) {
    std::vector<std::string> names;
    for (const Descriptor& row : table) names.push_back(row.method);
    return names;
}
using Names = std::vector<std::string>;

TEST_CASE("a context's table has its methods in the configured order") {
    CHECK(methods_of(Context(by("tcp, shm, local")).table()) == Names{"tcp", "shm", "local"});
    CHECK(methods_of(Context(by("shm, tcp")).table()) == Names{"shm", "tcp"});
    const Context without(by("^tcp"));
    CHECK_FALSE(without.table().find("tcp"));
    CHECK(without.table().find("shm"));
    const Names by_default{"local", "shm", "ucx", "libfabric", "forward"};
    const auto is_default = [&](const LaneReport& lane) {
        return std::count(by_default.begin(), by_default.end(), lane.method) > 0;
    };
    const auto lanes = without.lanes(); // a list that only excludes adds no other module
    CHECK(std::all_of(lanes.begin(), lanes.end(), is_default));
}

TEST_CASE("only the methods that were asked for are opened") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    const Context context(by(method));
    REQUIRE(context.lanes().size() == 1);
    CHECK(context.lanes()[0].method == method);
    CHECK(methods_of(context.table()) == Names{method});
}

TEST_CASE("the owner's order decides, until the pointer's own table says otherwise") {
    Owner owner("shm, tcp, local");
    Context user(by("local, tcp, shm"));
    auto far = handed(user, owner.bound.pointer());
    CHECK(far.method() == "shm");
    DescriptorTable table = far.table();
    REQUIRE(methods_of(table) == Names{"shm", "tcp", "local"});

    table.prefer({"local"});
    far.set_table(table);
    CHECK(methods_of(far.table()) == Names{"local", "shm", "tcp"});
    CHECK(far.method() == "local");
    CHECK(within(far.call(ring, 1)) == 2);

    table.erase(*table.find("local"));
    table.move(1, 0);
    far.set_table(table);
    CHECK(methods_of(far.table()) == Names{"tcp", "shm"});
    CHECK(far.method() == "tcp");
    CHECK(within(far.call(ring, 2)) == 3);

    CHECK(handed(user, owner.bound.pointer()).method() == "shm"); // preferences are one pointer's own
}

TEST_CASE("a changed table travels with the pointer") {
    Owner owner("shm, tcp");
    Context user(by("shm, tcp"));
    Context third(by("shm, tcp"));
    auto far = handed(user, owner.bound.pointer());
    DescriptorTable table = far.table();
    table.erase(*table.find("shm"));
    far.set_table(table);
    const auto there = handed(third, far);
    CHECK(methods_of(there.table()) == Names{"tcp"});
    CHECK(there.method() == "tcp");
    CHECK(within(there.call(ring, 1)) == 2);
}

TEST_CASE("an empty table, or one of unknown methods, reaches nobody") {
    Owner owner("shm, tcp");
    Context user(by("shm, tcp"));
    auto far = handed(user, owner.bound.pointer());
    DescriptorTable strange;
    strange.push_back({"carrier_pigeon", {std::byte{1}}, {}});
    far.set_table(strange);
    const Refusal refusal = refusal_of(far.call(ring, 1));
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("carrier_pigeon"));
    CHECK(handed(user, far).table() == strange); // passed on unharmed

    far.set_table({});
    CHECK(refusal_of([&] { far.send(ring, 1); }).status == Status::no_method);
}

TEST_CASE("a row of an unknown method is passed over") {
    Owner owner("tcp");
    Context user(by("tcp"));
    auto far = handed(user, owner.bound.pointer());
    DescriptorTable table = far.table();
    table.insert(0, {"carrier_pigeon", {}, {}});
    far.set_table(table);
    CHECK(far.method() == "tcp");
    CHECK(within(far.call(ring, 1)) == 2);
}

TEST_CASE("use() chooses by hand and automatic undoes it") {
    Owner owner("local, shm, tcp");
    Context user(by("local, shm, tcp"));
    auto far = handed(user, owner.bound.pointer());
    CHECK(far.method() == "local");
    for (const char* method : {"tcp", "shm", "local", "tcp"}) {
        CAPTURE(method);
        far.use(method);
        CHECK(far.method() == method);
        CHECK(within(far.call(ring, 7)) == 8);
    }
    far.use("shm, tcp");
    CHECK(far.method() == "shm");
    far.use("tcp", {{"sndbuf", "256 KiB"}});
    CHECK(within(far.call(ring, 1)) == 2);
    far.use(automatic);
    CHECK(far.method() == "local");
}

TEST_CASE("use() of what cannot be had says so and leaves the pointer usable") {
    Owner owner("shm, tcp");
    Context user(by("shm, tcp"));
    auto far = handed(user, owner.bound.pointer());
    const Refusal refusal = refusal_of([&] { far.use("carrier_pigeon"); });
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("carrier_pigeon"));
    CHECK(refusal.says("shm, tcp"));
    CHECK(refusal_of([&] { far.use("shm,,?"); }).status == Status::bad_config);
    const Refusal unknown = refusal_of([&] { far.use("tcp", {{"sndbfu", "256 KiB"}}); });
    CHECK(unknown.status == Status::bad_config);
    CHECK(unknown.says("sndbfu"));
    CHECK(unknown.says("sndbuf"));
    CHECK(refusal_of([&] { far.use("tcp?sndbuf=plenty"); }).status == Status::bad_config);
    CHECK(refusal_of([&] { far.use("shm, tcp", {{"sndbuf", "256 KiB"}}); }).status == Status::bad_config);
    CHECK(within(far.call(ring, 1)) == 2);
}

TEST_CASE("a policy chooses among the rows, and may choose none") {
    Owner owner("local, shm, tcp");
    Context user(by("local, shm, tcp"));
    auto far = handed(user, owner.bound.pointer());
    std::vector<RowFacts> shown;
    far.use([&](const std::vector<RowFacts>& rows) -> std::optional<std::size_t> {
        shown = rows;
        return rows.size() - 1;
    });
    CHECK(far.method() == "tcp");
    CHECK(within(far.call(ring, 1)) == 2);
    REQUIRE(shown.size() == 3);
    for (const RowFacts& row : shown) {
        CAPTURE(row.descriptor.method);
        CHECK(row.applies);
        CHECK(row.bandwidth > 0);
        CHECK(row.one_host == (row.descriptor.method != "tcp"));
    }
    far.use([](const std::vector<RowFacts>&) { return std::optional<std::size_t>{}; });
    CHECK(refusal_of(far.call(ring, 1)).status == Status::no_method);
    far.use([](const std::vector<RowFacts>&) { return std::optional<std::size_t>{99}; });
    CHECK(refusal_of(far.call(ring, 1)).status == Status::no_method);
    far.use(automatic);
    CHECK(within(far.call(ring, 1)) == 2);
}

TEST_CASE("a thread can tell that it is inside an inline handler of a context") {
    static constexpr Request<bool(int&)> kInside{"test.choosing.inside"};
    Context here(by("local"));
    const Context other(by("local"));
    int object = 0;
    here.on(kInside, [&](int&) { return here.inside_handler() && !other.inside_handler(); });
    const Bound<int> bound = here.bind(object);
    CHECK(within(bound.pointer().call(kInside)));
    CHECK(!here.inside_handler());
}

TEST_CASE("explain() gives every row its verdict") {
    Owner owner("shm, tcp");
    Context user(by("tcp"));
    const auto far = handed(user, owner.bound.pointer());
    const Choice choice = far.choose();
    REQUIRE(choice.trail.size() == 2);
    CHECK(choice.row == 1);
    CHECK(choice.trail[0].method == "shm");
    CHECK_FALSE(choice.trail[0].applies);
    CHECK_FALSE(choice.trail[0].because.empty());
    CHECK(choice.trail[1].applies);
    CHECK(far.explain().find("tcp: applies") != std::string::npos);
    CHECK(user.explain(owner.context.table()).row == 1);
    CHECK(far.enquire().size() == 2);
}

TEST_CASE("fallback is allowed by default, warned about once, or forbidden") {
    Owner owner("shm, tcp");
    SECTION("allowed") {
        Context user(by("tcp"));
        CHECK(within(handed(user, owner.bound.pointer()).call(ring, 1)) == 2);
    }
    SECTION("warned about") {
        const auto warning = expect_warning("falling back to tcp");
        Context user(by("tcp", {{"fallback", "warn"}}));
        CHECK(within(handed(user, owner.bound.pointer()).call(ring, 1)) == 2);
        CHECK(within(handed(user, owner.bound.pointer()).call(ring, 2)) == 3);
        CHECK(warning.count() == 1);
    }
    SECTION("forbidden by configuration") {
        Context user(by("tcp", {{"fallback", "forbid"}}));
        auto far = handed(user, owner.bound.pointer());
        const Refusal refusal = refusal_of(far.call(ring, 1));
        CHECK(refusal.status == Status::no_method);
        CHECK(refusal.says("forbidden"));
        CHECK(refusal.says("shm"));
        far.fallback(Fallback::allow); // this pointer alone
        CHECK(within(far.call(ring, 1)) == 2);
        CHECK(refusal_of(handed(user, owner.bound.pointer()).call(ring, 1)).status == Status::no_method);
    }
    SECTION("forbidden for one pointer") {
        Context user(by("tcp"));
        auto far = handed(user, owner.bound.pointer());
        far.fallback(Fallback::forbid);
        CHECK(refusal_of([&] { far.send(ring, 1); }).status == Status::no_method);
        CHECK(within(handed(user, owner.bound.pointer()).call(ring, 1)) == 2);
    }
}

TEST_CASE("contexts without a common method are told why they cannot meet") {
    Owner owner("shm");
    Context user(by("tcp"));
    const Refusal refusal = refusal_of(handed(user, owner.bound.pointer()).call(ring, 1));
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("shm"));
}

} // namespace choosing_test
