// SPDX-License-Identifier: BSD-3-Clause
// Methods and parameters that a pointer prescribes: they travel with it, hold for whoever uses it, and can
// be narrowed but not undone; what can't be is refused with the reason.
#include "contexts.h"

#include <algorithm>

namespace prescribing_test {

using namespace plexus;
using namespace plexus::testing;

struct Buoy {
    GlobalPointer<Buoy> other;
};
constexpr Request<int(Buoy&, int)> ring{"prescribing.ring"};
constexpr Request<void(Buoy&, GlobalPointer<Buoy>)> moor{"prescribing.moor"};
constexpr Request<GlobalPointer<Buoy>(Buoy&)> moored{"prescribing.moored"};

struct Harbour {
    explicit Harbour(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(ring, [](Buoy&, int times) { return times + 1; });
        context.on(moor, [](Buoy& it, GlobalPointer<Buoy> other) { it.other = std::move(other); });
        context.on(moored, [](Buoy& it) { return it.other; });
        bound = context.bind(buoy);
    }
    ~Harbour() { buoy.other = {}; }
    GlobalPointer<Buoy> to(const Harbour& other) { return handed(context, other.bound.pointer()); }

    Buoy buoy;
    Context context;
    Bound<Buoy> bound;
};

/// A saved pointer that prescribes what is written, whatever that is.
std::vector<std::byte> saved_with(const GlobalPointer<Buoy>& pointer, const std::string& prescribed) {
    std::vector<std::byte> bytes = pointer.save();
    bytes.push_back(static_cast<std::byte>(prescribed.size() & 0xff));
    bytes.push_back(static_cast<std::byte>(prescribed.size() >> 8));
    for (const char c : prescribed) bytes.push_back(static_cast<std::byte>(c));
    return bytes;
}

TEST_CASE("what the owner prescribes holds for whoever gets the pointer, in requests and saved") {
    Harbour owner("shm, tcp, local");
    Harbour first("shm, tcp, local");
    Harbour second("shm, tcp, local");
    auto own = owner.bound.pointer();
    own.prescribe("tcp", {{"sndbuf", "256 KiB"}});
    CHECK(own.method() == "tcp");

    const auto saved = handed(first.context, own);
    CHECK(saved.table().prescribed() == "tcp?sndbuf=256 KiB");
    CHECK(saved.method() == "tcp");
    CHECK(within(saved.call(ring, 1)) == 2);
    CHECK(first.to(owner).method() == "shm"); // another pointer

    within(first.to(second).call(ring, 0));
    first.to(second).send(moor, saved); // in a request, on and back
    const auto back = within(first.to(second).call(moored));
    CHECK(back.table().prescribed() == "tcp?sndbuf=256 KiB");
    CHECK(back.method() == "tcp");
    CHECK(second.buoy.other.method() == "tcp");
    CHECK(within(second.buoy.other.call(ring, 2)) == 3);
    CHECK(owner.bound.pointer().table().prescribed().empty());
}

TEST_CASE("a holder prescribes as well, and requests before and after keep their order") {
    static constexpr Request<void(std::vector<int>&, int)> kNote{"prescribing.note"};
    static constexpr Request<std::size_t(std::vector<int>&)> kNotes{"prescribing.notes"};
    std::vector<int> notes;
    Context owner(by("shm, tcp"));
    owner.on(kNote, [](std::vector<int>& to, int number) { to.push_back(number); });
    owner.on(kNotes,
             [](std::vector<int>& of) { return std::is_sorted(of.begin(), of.end()) ? of.size() : 0; });
    const auto bound = owner.bind(notes);
    Context user(by("shm, tcp"));
    auto far = handed(user, bound.pointer());
    int number = 0;
    for (const char* methods : {"shm, tcp", "tcp, shm", "shm, tcp", "tcp"}) {
        far.prescribe(methods);
        for (int i = 0; i < 50; ++i) far.send(kNote, number++);
    }
    CHECK(far.method() == "tcp");
    CHECK(within(far.call(kNotes)) == 200);
}

TEST_CASE("a prescribed method that does not apply is refused with the reason, and no other is taken") {
    Harbour owner("shm, tcp");
    Harbour without("tcp");
    auto own = owner.bound.pointer();
    own.prescribe("shm");
    const auto far = handed(without.context, own);
    CHECK(far.explain() == "shm: not available in this context; tcp: the pointer prescribes shm");
    const Refusal refusal = refusal_of(far.call(ring, 1));
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("shm: not available in this context; tcp: the pointer prescribes shm"));

    own = owner.bound.pointer();
    own.prescribe("shm, tcp"); // the owner lets the user fall back
    CHECK(handed(without.context, own).method() == "tcp");
    CHECK(without.context.explain(own.table()).row == 1);
    CHECK(handed(without.context, own).explain() ==
          "shm: not available in this context; tcp: applies, as the pointer prescribes (row 2)");
}

TEST_CASE("a pointer prescribes what its holder can't use itself") {
    Harbour owner("shm, tcp");
    Context middle(by("tcp"));
    Harbour third("shm, tcp");
    auto far = handed(middle, owner.bound.pointer());
    far.prescribe("shm");
    CHECK(refusal_of(far.call(ring, 1)).status == Status::no_method);
    const auto there = handed(third.context, far);
    CHECK(there.method() == "shm");
    CHECK(within(there.call(ring, 1)) == 2);
}

TEST_CASE("use(), tables and policies choose among what is prescribed, and nothing undoes it") {
    Harbour owner("shm, tcp, local");
    Harbour user("shm, tcp, local");
    auto own = owner.bound.pointer();
    own.prescribe("tcp, local");
    auto far = handed(user.context, own);
    CHECK(far.method() == "tcp");
    far.use("local, tcp");
    CHECK(far.method() == "local");
    const Refusal refusal = refusal_of([&] { far.use("shm"); });
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("has none of the methods in \"shm\" that the pointer prescribes: \"tcp, local\""));
    CHECK(refusal_of([&] { far.prescribe("shm"); }).status == Status::no_method);
    far.use(automatic);
    CHECK(far.method() == "tcp");

    std::size_t shown = 0;
    far.use([&](const std::vector<RowFacts>& rows) -> std::optional<std::size_t> {
        shown = rows.size();
        return rows.size() - 1;
    });
    CHECK(far.method() == "local");
    CHECK(shown == 2);
    DescriptorTable table = far.table();
    REQUIRE(table.size() == 3);
    table.set_prescribed("");
    table.prefer({"shm"});
    far.use(automatic);
    far.set_table(table);
    CHECK(far.table().prescribed() == "tcp, local");
    CHECK(far.method() == "tcp");

    user.context.use(
        [](const std::vector<RowFacts>& rows) { return std::optional<std::size_t>(rows.size() - 1); });
    CHECK(handed(user.context, own).method() == "tcp"); // the context's policy is for pointers that name none
    far.prescribe("local");
    CHECK(far.table().prescribed() == "local");
    CHECK(within(far.call(ring, 1)) == 2);
    CHECK(refusal_of([&] { far.prescribe("tcp"); }).status == Status::no_method);
}

TEST_CASE("what is prescribed can narrow the boundaries of a file and never widens them") {
    const Values inside{{"site", "kiel"}, {"method.tcp.within", "site"}};
    Harbour oslo("tcp, shm", {{"site", "oslo"}});
    Harbour kiel("tcp, shm", inside);
    Harbour near("tcp, shm", {{"site", "kiel"}});

    auto own = oslo.bound.pointer();
    own.prescribe("tcp"); // less than the user's file asks for
    const Refusal weaker = refusal_of(handed(kiel.context, own).call(ring, 1));
    CHECK(weaker.status == Status::no_method);
    CHECK(weaker.says("tcp: only within site kiel; the peer is at oslo"));
    own = oslo.bound.pointer();
    own.prescribe("tcp?within=any");
    CHECK(refusal_of(handed(kiel.context, own).call(ring, 1)).says("only within site kiel"));

    auto narrow = near.bound.pointer();
    narrow.prescribe("tcp, shm", {{"within", "site"}});
    CHECK(within(handed(kiel.context, narrow).call(ring, 1)) == 2);
    const auto beyond = handed(oslo.context, narrow);
    CHECK(refusal_of(beyond.call(ring, 1)).says("tcp: only within site oslo; the peer is at kiel"));
    auto again = handed(kiel.context, narrow);
    const Refusal wider = refusal_of([&] { again.use("tcp", {{"within", "kiel"}}); });
    CHECK(wider.status == Status::bad_config);
    CHECK(refusal_of([&] {
              again.prescribe("shm", {{"within", "any"}});
          }).says("the pointer prescribes shm within \"site\", and \"any\" is more than that"));
    again.use("tcp", {{"within", "host"}});
    CHECK(within(again.call(ring, 4)) == 5);
    auto here = kiel.bound.pointer();
    CHECK(refusal_of([&] {
              here.prescribe("tcp", {{"within", "any"}});
          }).says("more than the configuration allows"));
}

TEST_CASE("prescribing what can't be says so, and the pointer stays as it was") {
    Harbour owner("shm, tcp", {{"site", "kiel"}});
    auto own = owner.bound.pointer();
    CHECK(refusal_of([&] { own.prescribe("carrier_pigeon"); }).says("its table has shm, tcp"));
    CHECK(refusal_of([&] { own.prescribe("tcp,,?"); }).status == Status::bad_config);
    CHECK(refusal_of([&] { own.prescribe("tcp?sndbfu=1MiB"); }).says("sndbuf"));
    CHECK(refusal_of([&] { own.prescribe("tcp?sndbuf=plenty"); }).status == Status::bad_config);
    std::string sites = "kiel";
    for (char each = 'a'; each < 'k'; ++each) sites += "," + std::string(63, each);
    const Refusal large = refusal_of([&] { own.prescribe("tcp, shm", {{"within", sites}}); });
    CHECK(large.status == Status::bad_config);
    CHECK(large.says("1024 are the most"));
    CHECK(own.table().prescribed().empty());
    CHECK(within(own.call(ring, 1)) == 2);
    CHECK(refusal_of([] { GlobalPointer<Buoy>().prescribe("tcp"); }).status == Status::dead_pointer);
}

TEST_CASE("a table that others would refuse is refused where it is set, and the pointer stays as it was") {
    Harbour owner("shm, tcp");
    auto own = owner.bound.pointer();
    const DescriptorTable good = own.table();
    const auto refused = [&](auto change, const char* part) {
        CAPTURE(part);
        DescriptorTable bad = good;
        change(bad);
        const Refusal refusal = refusal_of([&] { own.set_table(bad); });
        CHECK(refusal.status == Status::bad_argument);
        CHECK(refusal.says(part));
        CHECK(own.table() == good);
    };
    const auto row = [](Descriptor more) {
        return [more](DescriptorTable& table) { table.push_back(more); };
    };
    refused(row({"", {}, {}}), "the name of a method");
    refused(row({std::string(64, 'm'), {}, {}}), "the name of a method");
    refused(row({std::string(256 + 3, 'm'), {}, {}}), "the name of a method"); // 3, in a byte
    refused(row({"udp", std::vector<std::byte>(1025), {}}), "a descriptor at most 1024");
    refused(row({"udp", std::vector<std::byte>(65536), {}}), "a descriptor at most 1024");
    refused(row({"udp", {}, {}, "kiel;oslo"}), "a boundary");
    refused([](DescriptorTable& table) { table.set_place({"a site", {}}); }, "a site");
    refused([](DescriptorTable& table) { table.set_prescribed("tcp\n"); }, "a prescription");
    refused([](DescriptorTable& table) { table.set_prescribed("^tcp"); }, "excludes a method");
    refused([](DescriptorTable& table) { table.set_prescribed(std::string(1025, 't')); }, "a prescription");
    DescriptorTable more = good;
    more.push_back({std::string(63, 'm'), std::vector<std::byte>(1024), {{"colour", "red"}}, "kiel,oslo"});
    own.set_table(more);
    CHECK(own.table() == more);
    CHECK(within(handed(owner.context, own).call(ring, 1)) == 2);
}

TEST_CASE("a saved pointer with a forged prescription is refused, or reaches nobody and says why") {
    Harbour owner("tcp");
    Harbour user("tcp");
    const auto plain = owner.bound.pointer();
    for (const std::string& forged :
         {std::string("tcp,,"), std::string("^tcp"), std::string("tcp?within=the whole world"),
          std::string("tcp\n"), std::string(), std::string(1025, 't'), std::string("tcp,shm")}) {
        CAPTURE(forged.substr(0, 30));
        CHECK(refusal_of([&] {
                  GlobalPointer<Buoy>::load(user.context, saved_with(plain, forged));
              }).status == Status::bad_archive);
    }
    const std::pair<const char*, const char*> cases[] = {
        {"carrier_pigeon", "carrier_pigeon: prescribed, but the table has no such row"},
        {"tcp?colour=red", "the method tcp has no parameter \"colour\": it has"},
        {"tcp?sndbuf=plenty", "the parameter sndbuf of the method tcp"},
    };
    for (const auto& [forged, why] : cases) {
        CAPTURE(forged);
        auto far = GlobalPointer<Buoy>::load(user.context, saved_with(plain, forged));
        const Refusal refusal = refusal_of(far.call(ring, 1));
        CHECK(refusal.status == Status::no_method);
        CHECK(refusal.says(why));
        CHECK(far.explain().find(why) != std::string::npos);
        CHECK(handed(owner.context, far).table().prescribed() == forged); // passed on unharmed
    }
    CHECK(within(handed(user.context, plain).call(ring, 1)) == 2);
}

} // namespace prescribing_test
