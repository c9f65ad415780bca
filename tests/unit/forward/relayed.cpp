// SPDX-License-Identifier: BSD-3-Clause
// What travels through a forwarder: requests, answers, large messages, bulk memory, through one or two of
// them.
#include "sites.h"

#include "forward/via.h"

#include <numeric>
#include <thread>

namespace relayed_test {

using namespace plexus;
using namespace plexus::testing;

constexpr Request<GlobalSpan<double>(Ledger&)> borrow{"forward.borrow"};
constexpr Request<std::uint64_t(Ledger&)> never{"forward.never"};

struct Sites {
    explicit Sites(Values more = {})
      : gate(gate_options("gate"))
      , target(behind(gate.url(), std::move(more)))
      , source(by("tcp, forward"))
      , far(handed(source, target.pointer())) {}
    Context gate;
    Target target;
    Context source;
    GlobalPointer<Ledger> far;
};

TEST_CASE("a pointer whose table begins with a forwarder is reached through it") {
    Sites sites;
    CHECK(within(sites.far.call(twice, 21)) == 42);
    CHECK(sites.far.method() == "forward:gate");
    const std::string id = to_string(sites.gate.id()).substr(0, 8);
    INFO(sites.far.explain());
    CHECK(sites.far.explain().find("forward:gate: applies, via gate (" + id + "), 1 hop") == 0);
}

// What the URL of a row says may be another forwarder where the row is used: 127.0.0.1 is.
TEST_CASE(
    "a forwarder that is there is not replaced by one that its row's URL leads to, if a link is refused") {
    Context gate(gate_options("gate"));
    Context other(gate_options("other"));
    Target target(behind(gate.url()));
    Target absent(behind(gate.url()));
    Context source(by("tcp, forward", {{"fallback", "forbid"}}));
    const auto misled = [&](const Target& of) {
        DescriptorTable table = of.pointer().table();
        auto via = forward::decode(table[0].bytes).value();
        via.url = other.url();
        Descriptor row = table[0];
        row.bytes = forward::encode(via, wire::kLongestDescriptor);
        table.erase(0);
        table.insert(0, row);
        auto pointer = handed(source, of.pointer());
        pointer.set_table(table);
        return pointer;
    };
    const auto far = misled(target);
    CHECK(within(far.call(twice, 1)) == 2);
    const std::string method = far.method();
    gate.forward({.allow = {"nobody"}}); // refuses new links, and goes on with those that there are
    const auto near = misled(absent);
    for (const auto until = std::chrono::steady_clock::now() + 1500ms;
         std::chrono::steady_clock::now() < until;) {
        CHECK(refusal_of(near.call(twice, 2)).status != Status::ok);
        CHECK(within(far.call(twice, 3)) == 6);
    }
    CHECK(far.method() == method);
}

TEST_CASE("requests of all sizes arrive in order, each once") {
    Sites sites;
    constexpr std::uint64_t kCount = 20'000;
    std::vector<std::byte> load(200'000);
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < kCount; ++i) {
        const std::size_t size = i % 997 == 0 ? load.size() - i : i % 301;
        bytes += size;
        sites.far.send(note, i, std::span(load).first(size));
    }
    CHECK(eventually(kLimit, [&] { return sites.target.ledger().next == kCount; }));
    CHECK(sites.target.ledger().wrong == 0);
    CHECK(sites.target.ledger().bytes == bytes);
}

TEST_CASE("a busy link through a forwarder starves no other, no link being made and no deadline") {
    Context gate(gate_options("gate"));
    Target busy(behind(gate.url()));
    Target quiet(behind(gate.url()));
    Context source(by("tcp, forward"));
    const auto flooded = handed(source, busy.pointer());
    const auto other = handed(source, quiet.pointer());
    REQUIRE(within(flooded.call(twice, 1)) == 2);
    REQUIRE(within(other.call(twice, 1)) == 2);
    std::atomic<bool> stop{false};
    std::uint64_t sent = 0;
    std::thread flood([&] {
        const std::vector<std::byte> load(1'000);
        while (!stop) flooded.send(note, sent++, std::span(load));
    });
    CHECK(eventually(kLimit, [&] { return busy.ledger().next > 1'000; }));
    constexpr std::chrono::seconds kSoon{5};
    int answered = 0;
    for (std::uint64_t i = 0; i < 50; ++i)
        if (within(other.call(twice, i), kSoon) == 2 * i) ++answered;
    CHECK(answered == 50);

    Context second(by("tcp, forward")); // through the same forwarder, to the target that is flooded
    CHECK(within(handed(second, busy.pointer()).call(twice, 3), kSoon) == 6);
    Target late(behind(gate.url()));
    CHECK(within(handed(source, late.pointer()).call(twice, 4), kSoon) == 8);

    Owed<std::uint64_t> owed;
    quiet.context().on(never, [&](Ledger&, Reply<std::uint64_t> reply) { owed.add(std::move(reply)); });
    const auto start = std::chrono::steady_clock::now();
    CHECK(refusal_of(other.with(deadline(200ms)).call(never)).status == Status::deadline_exceeded);
    CHECK(std::chrono::steady_clock::now() - start < kSoon * kPatience);
    stop = true;
    flood.join();
    CHECK(eventually(kLimit, [&] { return busy.ledger().next == sent; }));
    CHECK(busy.ledger().wrong == 0);
}

TEST_CASE("both ends call each other at once") {
    Sites sites;
    Ledger own;
    sites.source.on(twice, [](Ledger&, std::uint64_t number) { return 2 * number; });
    const auto bound = sites.source.bind(own);
    const auto back = handed(sites.target.context(), bound.pointer());
    const auto ask = [](const GlobalPointer<Ledger>& whom, std::atomic<int>& good) {
        for (std::uint64_t i = 0; i < 500; ++i)
            if (within(whom.call(twice, i)) == 2 * i) ++good;
    };
    std::atomic<int> there{0};
    std::atomic<int> here{0};
    REQUIRE(within(sites.far.call(twice, 1)) == 2); // from now on the target has a way back
    std::thread other([&] { ask(back, there); });
    ask(sites.far, here);
    other.join();
    CHECK(here == 500);
    CHECK(there == 500);
}

TEST_CASE("a message of 72 MiB arrives whole") {
    Sites sites;
    std::vector<std::byte> load(std::size_t{72} << 20);
    for (std::size_t i = 0; i < load.size(); i += 4093) load[i] = static_cast<std::byte>(i >> 3);
    CHECK(within(sites.far.call(echo, load)) == load);
}

TEST_CASE("bulk memory is read and written through a forwarder") {
    Sites sites;
    std::vector<double> memory(300'000);
    std::iota(memory.begin(), memory.end(), 0.0);
    const auto lent = sites.target.context().bind(std::span(memory));
    sites.target.context().on(borrow, [&](Ledger&) { return lent.span(); });
    const GlobalSpan<double> far = within(sites.far.call(borrow));
    std::vector<double> got(250'000);
    within(far.get(100, std::span(got)));
    CHECK(std::equal(got.begin(), got.end(), memory.begin() + 100));
    std::fill(got.begin(), got.end(), -3.0);
    within(far.put(7, got));
    CHECK(std::all_of(memory.begin() + 7, memory.begin() + 7 + 250'000, [](double d) { return d == -3.0; }));
    CHECK(memory[6] == 6.0);
}

TEST_CASE("a way may lead through two forwarders, one behind the other") {
    Context outer(gate_options("outer"));
    Options behind_outer = gate_options("inner");
    behind_outer.set["methods"] = "forward, tcp";
    behind_outer.set["method.forward.via"] = outer.url();
    Context inner(std::move(behind_outer));
    Target target(behind(inner.url()));
    Context source(by("tcp, forward"));
    const auto far = handed(source, target.pointer());
    CHECK(within(far.call(twice, 4)) == 8);
    CHECK(far.explain().find("via inner") != std::string::npos);
    std::vector<std::byte> load(5'000'000, std::byte{9});
    CHECK(within(far.call(echo, load)) == load);
    for (std::uint64_t i = 0; i < 2'000; ++i) far.send(note, i, std::span(load).first(i));
    CHECK(eventually(kLimit, [&] { return target.ledger().next == 2'000; }));
    CHECK(target.ledger().wrong == 0);
}

} // namespace relayed_test
