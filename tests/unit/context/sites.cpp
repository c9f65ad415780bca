// SPDX-License-Identifier: BSD-3-Clause
// Sites: how far the methods of a configuration reach, in both directions, and what a pointer may add.
#include "contexts.h"
#include "support/tmpdir.h"

namespace sites_test {

using namespace plexus;
using namespace plexus::testing;

struct Gate {};
constexpr Request<int(Gate&, int)> pass{"sites.pass"};

struct Member {
    Member(const std::string& site, const std::string& methods, Values more = {})
      : context(by(methods, with_site(site, std::move(more)))) {
        context.on(pass, [this](Gate&, int number) {
            ++passed;
            return number + 1;
        });
        bound = context.bind(gate);
    }
    static Values with_site(const std::string& site, Values more) {
        if (!site.empty()) more.emplace("site", site);
        return more;
    }
    GlobalPointer<Gate> to(const Member& other) { return handed(context, other.bound.pointer()); }

    Gate gate;
    int passed = 0;
    Context context;
    Bound<Gate> bound;
};

const Values kInside{{"method.tcp.within", "site"}};

/// The table of a pointer without what its owner says of itself, as a peer could hand it on.
template <class T>
void strip(GlobalPointer<T>& far, Place place) {
    DescriptorTable bare;
    bare.set_place(std::move(place));
    for (Descriptor row : far.table()) {
        row.within.clear();
        bare.push_back(std::move(row));
    }
    far.set_table(std::move(bare));
}

Refusal start(const std::string& methods, Values more) {
    return refusal_of([&] { const Context context(by(methods, std::move(more))); });
}

TEST_CASE("a table says at which site and on which host its context is, and how far each row reaches") {
    const Member kiel("kiel", "shm, tcp", kInside);
    const DescriptorTable table = kiel.context.table();
    CHECK(table.place().site == "kiel");
    CHECK(table.place().host != Place{}.host);
    CHECK(table[*table.find("tcp")].within == "site");
    CHECK(table[*table.find("shm")].within.empty());
    Member other("oslo", "shm, tcp");
    CHECK(other.to(kiel).table() == table);
}

TEST_CASE("a method within a site reaches contexts of the site and no others, and explain() says why") {
    Member kiel("kiel", "tcp", kInside);
    Member here("kiel", "tcp", kInside);
    Member oslo("oslo", "tcp");
    Member nowhere("", "tcp");
    CHECK(within(here.to(kiel).call(pass, 1)) == 2);

    const auto far = kiel.to(oslo);
    CHECK(far.explain() == "tcp: only within site kiel; the peer is at oslo");
    const Refusal refusal = refusal_of(far.call(pass, 1));
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("only within site kiel; the peer is at oslo"));
    CHECK(kiel.context.explain(oslo.context.table()).trail[0].because ==
          "only within site kiel; the peer is at oslo");
    CHECK(kiel.to(nowhere).explain() == "tcp: only within site kiel; the peer names no site");
    CHECK(oslo.passed + nowhere.passed == 0);
}

TEST_CASE("what the owner's file says holds for whoever has its pointer") {
    const Member kiel("kiel", "tcp", kInside);
    Member oslo("oslo", "tcp");
    const auto far = oslo.to(kiel);
    CHECK(far.explain() == "tcp: the peer takes it only within site kiel; this context is at oslo");
    CHECK(refusal_of(far.call(pass, 1)).status == Status::no_method);
    CHECK(kiel.passed == 0);
}

TEST_CASE("beyond the boundary of one method the next is taken") {
    const Member kiel("kiel", "local, tcp", {{"method.local.within", "site"}});
    Member here("kiel", "local, tcp", {{"method.local.within", "site"}});
    Member oslo("oslo", "local, tcp", {{"method.local.within", "site"}});
    CHECK(here.to(kiel).method() == "local");
    CHECK(oslo.to(kiel).method() == "tcp");
    CHECK(within(oslo.to(kiel).call(pass, 1)) == 2);
}

TEST_CASE("a list of sites, a host and an own site are boundaries, too") {
    const Values two{{"method.tcp.within", "kiel, oslo"}};
    Member kiel("kiel", "tcp", two);
    const Member oslo("oslo", "tcp", two);
    const Member bergen("bergen", "tcp");
    CHECK(within(kiel.to(oslo).call(pass, 1)) == 2);
    CHECK(kiel.to(bergen).explain() == "tcp: only within sites kiel, oslo; the peer is at bergen");

    Member one("", "tcp", {{"method.tcp.within", "host"}});
    const Member same("oslo", "tcp");
    CHECK(within(one.to(same).call(pass, 2)) == 3);
    Member other("", "tcp", {{"method.tcp.within", "host"}});
    auto elsewhere = other.to(same);
    strip(elsewhere, {"oslo", {1, 2, 3}});
    CHECK(elsewhere.explain() == "tcp: only within this host; the peer is on another");
    Member own("kiel", "tcp", {{"method.tcp.within", "site"}});
    CHECK(within(own.to(own).call(pass, 3)) == 4);
}

TEST_CASE("whoever connects over a boundary is refused at the door, and both sides say so once") {
    const auto warning = expect_warning("no connection by tcp with context");
    Member kiel("kiel", "tcp", kInside);
    Member oslo("oslo", "tcp");
    auto far = oslo.to(kiel);
    strip(far, {"oslo", {}}); // nothing keeps this context from dialling
    const auto told = [&] {   // the end of the link may come before the other's hello was read
        const Status status = refusal_of(far.call(pass, 1)).status;
        return status == Status::no_method || status == Status::peer_lost;
    };
    CHECK(told());
    CHECK(kiel.passed == 0);
    CHECK(eventually(kLimit, [&] { return warning.count() >= 1; }));
    // Now the peer's own word is known, whatever a pointer says.
    CHECK(far.explain().find("applies") == std::string::npos);
    CHECK(told());
    CHECK(kiel.passed == 0);
    CHECK(warning.count() <= 2);
}

TEST_CASE("a pointer that says a wrong site lets nothing out before its owner was heard") {
    const auto warning = expect_warning("no connection by tcp with context");
    Member kiel("kiel", "tcp", kInside);
    Member oslo("oslo", "tcp");
    auto far = kiel.to(oslo);
    strip(far, kiel.context.table().place());
    CHECK(far.explain() == "tcp: applies (row 1)");
    const Refusal refusal = refusal_of(far.call(pass, 1));
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("only within site kiel; the peer is at oslo"));
    CHECK(oslo.passed == 0);
    CHECK(warning.count() >= 1);
    CHECK(far.explain() == "tcp: only within site kiel; the peer is at oslo");
}

TEST_CASE("a pointer's own boundary lets nothing out before the peer was heard, wherever it is said to be") {
    Member kiel("kiel", "tcp");
    Member oslo("oslo", "tcp");
    auto far = kiel.to(oslo);
    strip(far, kiel.context.table().place());
    far.use("tcp", {{"within", "site"}});
    CHECK(far.explain() == "tcp: applies (row 1)");
    for (int i = 0; i < 2; ++i) {
        const Refusal refusal = refusal_of(far.call(pass, 1));
        CHECK(refusal.status == Status::no_method);
        CHECK(refusal.says("only within site kiel; the peer is at oslo"));
    }
    CHECK(oslo.passed == 0);
    CHECK(within(kiel.to(oslo).call(pass, 1)) == 2); // the file allows it
    CHECK(oslo.passed == 1);
}

TEST_CASE("a handler's message by a pointer with a boundary ends when its peer turns out to be beyond") {
    Member kiel("kiel", "tcp");
    Member oslo("oslo", "tcp");
    Member near("kiel", "tcp");
    auto far = kiel.to(oslo);
    strip(far, kiel.context.table().place());
    far.use("tcp", {{"within", "site"}});
    auto close = kiel.to(near);
    close.use("tcp", {{"within", "site"}});
    std::optional<Future<int>> beyond;
    std::optional<Future<int>> inside;
    constexpr Request<int(Gate&, int)> ask{"sites.ask"};
    kiel.context.on(ask, [&](Gate&, int number) {
        beyond.emplace(far.call(pass, number));
        inside.emplace(close.call(pass, number));
        return number;
    });
    CHECK(within(near.to(kiel).call(ask, 4)) == 4);
    CHECK(within(std::move(*inside)) == 5);
    const Refusal refusal = refusal_of(std::move(*beyond));
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("only within site kiel; the peer is at oslo"));
    CHECK(oslo.passed == 0);
}

TEST_CASE("a peer that is refused by one method may come by another") {
    const auto warning = expect_warning("no connection by tcp with context");
    Member kiel("kiel", "tcp, shm", kInside);
    Member oslo("oslo", "tcp, shm");
    auto far = oslo.to(kiel);
    strip(far, {"oslo", {}});
    CHECK(within(far.call(pass, 1)) == 2); // tcp was tried, shm took over
    CHECK(far.method() == "shm");
    CHECK(kiel.passed == 1);
    CHECK(warning.count() >= 1);
}

TEST_CASE("a pointer may ask for a narrower boundary, never for a wider one") {
    Member kiel("kiel", "tcp, shm", {{"method.tcp.within", "kiel, oslo"}});
    const Member oslo("oslo", "tcp, shm");
    auto far = kiel.to(oslo);
    CHECK(far.method() == "tcp");
    far.use("tcp, shm", {{"within", "host"}});
    CHECK(within(far.call(pass, 1)) == 2);
    far.use("tcp?within=kiel%2C oslo");
    CHECK(within(far.call(pass, 2)) == 3);
    const Refusal nobody = refusal_of([&] { far.use("tcp", {{"within", "site"}}); });
    CHECK(nobody.status == Status::no_method);
    CHECK(nobody.says("only within site kiel; the peer is at oslo"));
    for (const char* wider : {"any", "bergen, kiel, oslo"}) {
        CAPTURE(wider);
        const Refusal refusal = refusal_of([&] { far.use("tcp", {{"within", wider}}); });
        CHECK(refusal.status == Status::bad_config);
        CHECK(refusal.says("more than the configuration allows"));
        DescriptorTable table = far.table();
        DescriptorTable edited;
        for (Descriptor row : table) {
            if (row.method == "tcp") row.parameters["within"] = wider;
            edited.push_back(std::move(row));
        }
        CHECK(refusal_of([&] { far.set_table(edited); }).status == Status::bad_config);
    }
    CHECK(refusal_of([&] { far.use("tcp", {{"within", "subnet"}}); }).says("set method.tcp.within"));
    CHECK(refusal_of([&] { far.use("tcp", {{"sndbfu", "1 MiB"}}); }).says("within")); // what there is
    CHECK(within(far.call(pass, 3)) == 4);
}

TEST_CASE("a pointer with a boundary of its own takes the next row within it") {
    Member kiel("kiel", "tcp, shm");
    const Member oslo("oslo", "tcp, shm");
    auto far = kiel.to(oslo);
    far.use("tcp?within=site, shm");
    CHECK(far.method() == "shm");
    CHECK(far.explain() == "tcp: only within site kiel; the peer is at oslo; shm: applies (row 2)");
    CHECK(within(far.call(pass, 1)) == 2);
}

TEST_CASE("a method within a subnet reaches the hosts of this network, if they keep to theirs as well") {
    const Values near{{"method.tcp.within", "subnet"}};
    Member kiel("kiel", "tcp", near);
    Member same("kiel", "tcp", near);
    CHECK(kiel.context.table()[0].within == "subnet");
    CHECK(within(kiel.to(same).call(pass, 1)) == 2); // by loopback
    Member oslo("oslo", "tcp", near);
    CHECK(kiel.to(oslo).explain() == "tcp: only within this subnet; the peer is at oslo");
    CHECK(refusal_of(kiel.to(oslo).call(pass, 1)).status == Status::no_method);

    const Member loose("kiel", "tcp");
    auto far = kiel.to(loose);
    strip(far, {"kiel", {1, 2, 3}});
    CHECK(far.explain() == "tcp: only within this subnet; the peer does not keep to its own: set within to "
                           "\"subnet\" there");
    CHECK(within(kiel.to(loose).call(pass, 1)) == 2); // on one host nothing leaves it
    Member open("kiel", "tcp");
    auto guarded = open.to(kiel);
    DescriptorTable elsewhere = guarded.table();
    elsewhere.set_place({"kiel", {1, 2, 3}});
    guarded.set_table(elsewhere);
    CHECK(guarded.explain() ==
          "tcp: the peer takes it only within its subnet; this context does not keep to its "
          "own: set within to \"subnet\" here");
}

TEST_CASE("a method that can't keep to a subnet says so at the start, and one of a host need not") {
    CHECK(start("shm", {{"method.shm.within", "subnet"}}).status == Status::ok);
    if (refusal_of([] { const Context zstd(by("zstd")); }).status != Status::ok) return;
    const Refusal refusal = start("zstd", {{"method.zstd.within", "subnet"}});
    CHECK(refusal.status == Status::bad_config);
    CHECK(refusal.says("method.zstd.within"));
    CHECK(refusal.says("can't keep to a subnet: set it for the method under it"));
    CHECK(Context(by("zstd", {{"method.tcp.within", "subnet"}})).table()[0].within == "subnet");
}

TEST_CASE("bad boundaries stop the start, with the key and what would be right") {
    const std::pair<Values, const char*> cases[] = {
        {{{"method.tcp.within", "site"}}, "set the key `site`"},
        {{{"method.tcp.within", "sight"}}, "set the key `site`"},
        {{{"site", "kiel"}, {"method.tcp.within", "sight"}}, "add kiel"},
        {{{"site", "kiel"}, {"method.tcp.within", "oslo, bergen"}},
         "leaves out this context's own site kiel"},
        {{{"site", "kiel"}, {"method.tcp.within", "subnet, oslo"}}, "\"subnet\" stands alone"},
        {{{"site", "kiel"}, {"method.tcp.within", "site, oslo"}}, "\"site\" stands alone"},
        {{{"site", "kiel"}, {"method.tcp.within", ""}}, "names of sites"},
        {{{"site", "kiel"}, {"method.tcp.within", "the harbour"}}, "\"the harbour\" is no boundary"},
        {{{"site", "host"}}, "a meaning of its own"},
        {{{"site", "the harbour"}}, "no name of a site"},
    };
    for (const auto& [values, part] : cases) {
        CAPTURE(part);
        const Refusal refusal = start("shm, tcp", values);
        CHECK(refusal.status == Status::bad_config);
        CHECK(refusal.says(part));
        CHECK(refusal.says(values.contains("method.tcp.within") ? "method.tcp.within" : "site"));
    }
    // Also of a method that is not in use; but what that contradicts is nobody's harm.
    CHECK(start("shm", {{"method.tcp.within", "k iel"}}).status == Status::bad_config);
    CHECK(start("shm", {{"site", "kiel"}, {"method.tcp.within", "oslo"}}).status == Status::ok);
    for (const char* names : {"site", "kiel, oslo"}) {
        const Refusal refusal = start("shm", {{"method.tcp.within", names}});
        CHECK(refusal.status == Status::bad_config);
        CHECK(refusal.says("method.tcp.within"));
        CHECK(refusal.says("set the key `site`"));
    }
    CHECK(start("tcp?within=site", {}).says("set the key `site`"));
}

TEST_CASE("a file of five lines says where a context is and how far tcp reaches") {
    TmpDir folder;
    Options options;
    options.file = folder
                       .file("plexus.toml", "methods = \"shm, tcp\"\nsite = \"kiel\"\n[method.tcp]\n"
                                            "within = [\"kiel\", \"oslo\"]\n")
                       .string();
    const Context context(options);
    CHECK(context.table().place().site == "kiel");
    CHECK(context.table()[1].within == "kiel, oslo");
}

TEST_CASE("a method that works over another is within its boundary, unless it encrypts") {
    const Values inside{{"site", "kiel"}, {"method.tcp.within", "site"}};
    if (refusal_of([] { const Context zstd(by("zstd")); }).status == Status::ok) {
        CHECK(Context(by("zstd", inside)).table()[0].within == "site");
        Values wider = inside;
        wider["method.zstd.within"] = "any";
        CHECK(Context(by("zstd", wider)).table()[0].within == "site");
    }
    if (refusal_of([] { const Context tls(by("tls")); }).status == Status::ok) {
        CHECK(Context(by("tls", inside)).table()[0].within.empty());
        Values over = inside;
        over["method.zstd.over"] = "tls";
        CHECK(Context(by("zstd", over)).table()[0].within.empty());
        over["method.tls.within"] = "kiel, oslo";
        CHECK(Context(by("zstd", over)).table()[0].within == "kiel, oslo");
    }
}

TEST_CASE("a policy for a whole context chooses for all pointers that have none of their own") {
    const Member owner("", "shm, tcp");
    Member user("", "shm, tcp");
    const auto before = user.to(owner);
    auto pinned = user.to(owner);
    pinned.use("shm");
    auto chosen = user.to(owner);
    chosen.use([](const std::vector<RowFacts>&) { return std::optional<std::size_t>(0); });
    CHECK(before.method() == "shm");
    CHECK(within(before.call(pass, 1)) == 2);
    user.context.use(
        [](const std::vector<RowFacts>& rows) -> std::optional<std::size_t> { return rows.size() - 1; });
    CHECK(before.method() == "tcp"); // also where a way was in use
    CHECK(within(before.call(pass, 2)) == 3);
    CHECK(user.to(owner).method() == "tcp");
    CHECK(pinned.method() == "shm");
    CHECK(chosen.method() == "shm");
    chosen.use(automatic);
    CHECK(chosen.method() == "tcp");
    user.context.use(Policy());
    CHECK(before.method() == "shm");
    CHECK(within(before.call(pass, 3)) == 4);
}

} // namespace sites_test
