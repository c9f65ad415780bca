// SPDX-License-Identifier: BSD-3-Clause
// Bad input: each kind has its own status, at the side that can do something about it, in
// words that say what to do; and the good requests behind it go on.
#include "contexts.h"

#include <algorithm>
#include <cereal/types/vector.hpp>

namespace refusals_test {

using namespace plexus;
using namespace plexus::testing;

struct Gate {};
/// Announces more bytes than it sends.
struct Parcel {
    std::uint64_t claimed = 0;
    std::uint8_t sent = 0;

    template <class Archive>
    void save(Archive& archive) const {
        archive(claimed);
        for (std::uint8_t i = 0; i < sent; ++i) archive(i);
    }
    /// Reads more than save() wrote where `claimed` says so.
    template <class Archive>
    void load(Archive& archive) {
        archive(claimed);
        std::uint8_t byte = 0;
        for (std::uint64_t i = 0; i < claimed; ++i) archive(byte);
    }
};
PLEXUS_NAME(Parcel, "refusals.parcel")
/// Says that a vector follows, of a length that no archive holds.
struct Absurd {
    std::uint64_t length = 0;

    template <class Archive>
    void save(Archive& archive) const {
        archive(length);
    }
    template <class Archive>
    void load(Archive& archive) {
        std::vector<std::vector<int>> rows;
        archive(rows);
    }
};
PLEXUS_NAME(Absurd, "refusals.absurd")

constexpr Request<int(Gate&, int)> pass{"refusals.pass"};
constexpr Request<void(Gate&, int)> unknown{"refusals.unknown"};
constexpr Request<int(Gate&, int)> ours{"refusals.same_name"};
constexpr Request<int(Gate&, double)> theirs{"refusals.same_name"};
constexpr Request<void(Gate&, Parcel)> open{"refusals.open"};
constexpr Request<void(Gate&, Absurd)> absurd{"refusals.absurd"};
constexpr Request<std::size_t(Gate&, std::vector<std::byte>)> weigh{"refusals.weigh"};
constexpr Request<std::vector<std::byte>(Gate&, std::uint32_t)> fill{"refusals.fill"};
constexpr Request<int(Gate&, int)> burst{"refusals.burst"};
constexpr Request<int(Gate&, int)> burst_threaded{"refusals.burst_threaded"};

int throw_by_number(int what) {
    if (what == 1) throw std::runtime_error("the gate is rusty");
    if (what == 2) throw Error(Status::not_found, "no such gate");
    if (what == 3) throw 3; // NOLINT: a stranger's exception
    return what;
}

struct Two {
    ExpectWarning logged{"a one-way request of context"}; // at the owner

    explicit Two(const std::string& method, Values owners = {}, Values users = {})
      : owner(by(method, std::move(owners)))
      , user(by(method, std::move(users))) {
        owner.on(pass, [](Gate&, int x) { return x; });
        owner.on(ours, [](Gate&, int x) { return x; });
        owner.on(open, [](Gate&, const Parcel&) {});
        owner.on(absurd, [](Gate&, const Absurd&) {});
        owner.on(weigh, [](Gate&, const std::vector<std::byte>& load) { return load.size(); });
        owner.on(fill, [](Gate&, std::uint32_t size) { return std::vector<std::byte>(size); });
        owner.on(burst, [](Gate&, int what) { return throw_by_number(what); });
        owner.on(burst_threaded, threaded, [](Gate&, int what) { return throw_by_number(what); });
        complaints.listen_to(user);
        bound = owner.bind(gate);
        far = handed(user, bound.pointer());
    }
    bool still_works() { return within(far.call(pass, 5)) == 5; }

    Gate gate;
    Complaints complaints;
    Context owner;
    Context user;
    Bound<Gate> bound;
    GlobalPointer<Gate> far;
};

TEST_CASE("an unknown configuration key stops the start and names the nearest") {
    const Refusal refusal = refusal_of([] { Context(by("tcp", {{"method.tcp.sndbuff", "1 MiB"}})); });
    CHECK(refusal.status == Status::bad_config);
    CHECK(refusal.says("method.tcp.sndbuff"));
    CHECK(refusal.says("method.tcp.sndbuf\""));
    CHECK(refusal_of([] {
              Context(by("tcp", {{"limits.max_message", "many"}}));
          }).status == Status::bad_config);
    CHECK(refusal_of([] { Context(by("tcp", {{"fallback", "perhaps"}})); }).status == Status::bad_config);
}

TEST_CASE("an unknown method name stops the start and names those there are") {
    const Refusal refusal = refusal_of([] { Context(by("shm, tpc")); });
    CHECK(refusal.status == Status::bad_config);
    CHECK(refusal.says("tpc"));
    CHECK(refusal.says("tcp"));
}

TEST_CASE("a method that was asked for and is set wrongly stops the start, although others are left") {
    const Refusal refusal = refusal_of([] {
        Context(by("local, tcp", {{"method.tcp.listen", "no_such_interface"}}));
    });
    CHECK(refusal.status == Status::bad_config);
    CHECK(refusal.says("no_such_interface"));
}

TEST_CASE("a list that leaves no method stops the start, and says so") {
    const Refusal refusal = refusal_of([] { Context(by("^local, ^shm, ^ucx, ^libfabric, ^tcp, ^forward")); });
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("no method could be opened"));
}

TEST_CASE("a module with a bad parameter is refused, and what is set for its method is left out") {
    const auto logged = expect_warning("is refused");
    const Context context(
        by("local", {{"module_path", std::getenv("TESTED_BAD_KEYS")},
                     {"method.ucx.tls", "tcp"}})); // an optional method, as if it were absent
    CHECK(logged.count() == 1);
    const auto refused = context.refused();
    const auto is_about = [](const RefusedModule& each) {
        return each.why.find("blocking that is there already") != std::string::npos;
    };
    CHECK(std::count_if(refused.begin(), refused.end(), is_about) == 1);
}

TEST_CASE("a configuration file that is not there stops the start") {
    Options options = by("tcp");
    options.file = "/nowhere/plexus.toml";
    const Refusal refusal = refusal_of([&] { const Context context(options); });
    CHECK(refusal.status == Status::not_found);
    CHECK(refusal.says("/nowhere/plexus.toml"));
}

TEST_CASE("a second handler for one name is refused") {
    Context context(by("tcp"));
    context.on(pass, [](Gate&, int x) { return x; });
    const Refusal refusal = refusal_of([&] { context.on(pass, [](Gate&, int x) { return x; }); });
    CHECK(refusal.status == Status::busy);
    CHECK(refusal.says("refusals.pass"));
}

TEST_CASE("a request that nobody handles is reported to its sender") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    const Refusal called = refusal_of(two.far.call(unknown, 1));
    CHECK(called.status == Status::no_handler);
    CHECK(called.says("refusals.unknown"));
    two.far.send(unknown, 1);
    const Refusal told = two.complaints.next();
    CHECK(told.status == Status::no_handler);
    CHECK(told.says("refusals.unknown"));
    CHECK(two.still_works());
}

TEST_CASE("a handler that is registered late is found") {
    Two two("shm");
    CHECK(refusal_of(two.far.call(unknown, 1)).status == Status::no_handler);
    two.owner.on(unknown, [](Gate&, int) {});
    within(two.far.call(unknown, 1));
}

TEST_CASE("where nobody listens for errors they are a warning in the log") {
    Two two("shm");
    two.user.on_error(nullptr);
    const auto warning = expect_warning("request \"refusals.unknown\" to context");
    two.far.send(unknown, 1);
    CHECK(eventually(kLimit, [&] { return warning.count() == 1; }));
}

TEST_CASE("a request that is declared with other types is refused") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    const Refusal called = refusal_of(two.far.call(theirs, 2.5));
    CHECK(called.status == Status::bad_signature);
    CHECK(called.says("refusals.same_name"));
    two.far.send(theirs, 2.5);
    CHECK(two.complaints.next().status == Status::bad_signature);
    CHECK(within(two.far.call(ours, 2)) == 2);
}

TEST_CASE("an archive that holds less than its reader wants is refused") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    within(two.far.call(open, Parcel{3, 3}));
    CHECK(refusal_of(two.far.call(open, Parcel{4, 3})).status == Status::bad_archive);
    CHECK(refusal_of(two.far.call(open, Parcel{UINT64_MAX, 3})).status == Status::bad_archive);
    two.far.send(open, Parcel{200, 0});
    CHECK(two.complaints.next().status == Status::bad_archive);
    CHECK(two.still_works());
}

TEST_CASE("an archive that claims an absurd length is refused without being believed") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    within(two.far.call(absurd, Absurd{0}));
    for (const std::uint64_t length : {std::uint64_t{1}, std::uint64_t{1} << 40, UINT64_MAX}) {
        CAPTURE(length);
        CHECK(refusal_of(two.far.call(absurd, Absurd{length})).status == Status::bad_archive);
    }
    CHECK(two.still_works());
}

TEST_CASE("a message over the sender's limit is refused before it leaves") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, {}, {{"limits.max_message", "64 KiB"}});
    const std::vector<std::byte> load(65'537);
    CHECK(within(two.far.call(weigh, std::vector<std::byte>(60'000))) == 60'000);
    const Refusal sent = refusal_of([&] { two.far.send(weigh, load); });
    CHECK(sent.status == Status::too_large);
    CHECK(sent.says("max_message"));
    CHECK(refusal_of(two.far.call(weigh, load)).status == Status::too_large);
    CHECK(two.far.try_send(weigh, load) == Status::too_large);
    CHECK(two.still_works());
}

TEST_CASE("a message over the receiver's limit alone is refused there, and the sender is told") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, {{"limits.max_message", "64 KiB"}});
    CHECK(two.still_works());
    CHECK(refusal_of(two.far.call(weigh, std::vector<std::byte>(1 << 20))).status == Status::too_large);
    CHECK(two.still_works());
}

TEST_CASE("a result over the limit is an error for its caller") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, {{"limits.max_message", "64 KiB"}});
    CHECK(within(two.far.call(fill, 1000u)).size() == 1000);
    CHECK(refusal_of(two.far.call(fill, 1u << 20)).status == Status::too_large);
    CHECK(two.still_works());
}

TEST_CASE("what a handler throws reaches its caller, or the sender's on_error") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    const auto check = [&](const Request<int(Gate&, int)>& request) {
        const Refusal standard = refusal_of(two.far.call(request, 1));
        CHECK(standard.status == Status::handler_threw);
        CHECK(standard.says("the gate is rusty"));
        const Refusal own = refusal_of(two.far.call(request, 2));
        CHECK(own.status == Status::not_found);
        CHECK(own.says("no such gate"));
        CHECK(refusal_of(two.far.call(request, 3)).status == Status::handler_threw);
        two.far.send(request, 1);
        const Refusal told = two.complaints.next();
        CHECK(told.status == Status::handler_threw);
        CHECK(told.says("the gate is rusty"));
        CHECK(within(two.far.call(request, 7)) == 7);
    };
    check(burst);
    check(burst_threaded);
}

} // namespace refusals_test
