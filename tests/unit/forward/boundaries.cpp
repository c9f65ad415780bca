// SPDX-License-Identifier: BSD-3-Clause
// What others relay in the clear goes no further than what a context sends in the clear itself.
#include "sites.h"

namespace forward_boundaries_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

bool has(const std::string& method) {
    return refusal_of([&] { const Context context(by(method)); }).status == Status::ok;
}

/// A forwarder at kiel, and a target at oslo behind it.
struct Sites {
    explicit Sites(const std::string& methods = "forward, tcp", Values target_says = {})
      : gate(gate_options("gate", {{"site", "kiel"}}))
      , target(target_options(methods, std::move(target_says))) {}
    Options target_options(const std::string& methods, Values more) const {
        more.emplace("site", "oslo");
        Options options = behind(gate.url(), std::move(more));
        options.set["methods"] = methods;
        return options;
    }
    Context gate;
    Target target;
};

const Values kInside{{"site", "kiel"}, {"method.tcp.within", "site"}};

/// The rows of `far` that lead through the forwarder.
template <class T>
void only_relayed(GlobalPointer<T>& far) {
    DescriptorTable rows;
    rows.set_place(far.table().place());
    for (const Descriptor& row : far.table())
        if (row.method != "tcp") rows.push_back(row);
    far.set_table(rows);
}

} // namespace

TEST_CASE("a forwarder is no way around a boundary of what goes in the clear, unless the file says so") {
    Sites sites;
    Context source(by("tcp, forward", kInside));
    auto far = handed(source, sites.target.pointer());
    only_relayed(far);
    CHECK(far.explain() == "forward:gate: only within site kiel; the peer is at oslo");
    const Refusal refusal = refusal_of(far.call(twice, 1));
    CHECK(refusal.status == Status::no_method);
    CHECK(refusal.says("forward:gate: only within site kiel; the peer is at oslo"));

    Values open = kInside;
    open["method.forward.within"] = "any";
    Context knowing(by("tcp, forward", open));
    auto same = handed(knowing, sites.target.pointer());
    only_relayed(same);
    CHECK(within(same.call(twice, 4)) == 8);
    CHECK(same.method() == "forward:gate");
}

TEST_CASE("what a target's file says of methods in the clear holds for those who come through a forwarder") {
    Sites sites("forward, tcp", {{"method.tcp.within", "kiel, oslo"}});
    CHECK(sites.target.context().table()[0].within == "kiel, oslo");
    Context bergen(by("tcp, forward", {{"site", "bergen"}}));
    auto far = handed(bergen, sites.target.pointer());
    only_relayed(far);
    CHECK(far.explain() ==
          "forward:gate: the peer takes it only within sites kiel, oslo; this context is at bergen");
    CHECK(refusal_of(far.call(twice, 1)).status == Status::no_method);
    Context kiel(by("tcp, forward", {{"site", "kiel"}}));
    auto near = handed(kiel, sites.target.pointer());
    only_relayed(near);
    CHECK(within(near.call(twice, 2)) == 4);
}

TEST_CASE(
    "the widest of the methods in the clear counts, and those that encrypt or stay on the host do not") {
    // The forwarder lies beyond the boundary, or has not the method.
    const auto warning = expect_warning("does not know how this context is reached");
    const auto relayed_within = [](const std::string& methods, Values more) {
        Context gate(gate_options("gate"));
        more.emplace("site", "kiel");
        more.emplace("method.forward.via", gate.url());
        const DescriptorTable table = Context(by(methods, std::move(more))).table();
        return table[*table.find("forward")].within;
    };
    CHECK(relayed_within("tcp, forward", {}).empty());
    CHECK(relayed_within("tcp, forward", {{"method.tcp.within", "site"}}) == "site");
    CHECK(relayed_within("shm, tcp, forward", {{"method.tcp.within", "kiel, oslo"}}) == "kiel, oslo");
    CHECK(relayed_within("shm, tcp, forward", {{"method.shm.within", "host"}}).empty());
    CHECK(relayed_within("tcp, forward", {{"method.tcp.within", "subnet"}}) == "host"); // none is relayed
    if (has("tls")) CHECK(relayed_within("tls, tcp, forward", {{"method.tcp.within", "site"}}) == "site");
    if (has("zstd")) {
        const Values two{{"method.zstd.over", "tcp"}, {"method.tcp.within", "site"}};
        CHECK(relayed_within("zstd, forward", two) == "site");
        CHECK(relayed_within("zstd, tcp, forward",
                             {{"method.zstd.over", "forward"}, {"method.tcp.within", "site"}}) == "site");
    }
}

TEST_CASE("what is encrypted from end to end goes through a forwarder beyond the boundary") {
    if (!has("tls")) SKIP_TEST("this build has no tls");
    const Values over{{"method.tls.over", "forward"}};
    Sites sites("tls, forward, tcp", over);
    Values mine = kInside;
    mine.insert(over.begin(), over.end());
    Context source(by("tcp, forward, tls", mine));
    auto far = handed(source, sites.target.pointer());
    only_relayed(far);
    CHECK(within(far.call(twice, 4)) == 8);
    CHECK(far.method().starts_with("tls"));
}

} // namespace forward_boundaries_test
