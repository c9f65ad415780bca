// SPDX-License-Identifier: BSD-3-Clause
// A member of the job that breaks the rules of relayed links: its own links end, and no others.
#include "sites.h"

#include "context/core.h"
#include "forward/hop.h"
#include "forward/via.h"
#include "support/process.h"
#include "unit/context/key_file.h"

#include <csignal>
#include <fstream>
#include <random>
#include <unistd.h>

namespace forward_hostile_test {

using namespace plexus;
using namespace plexus::forward;
using namespace plexus::testing;

GlobalPointer<Hub> hub_at(Context& from, const Via& via) {
    transport::Endpoint& endpoint = from.core()->endpoint();
    return {via.hub, endpoint.way(endpoint.peer(via.hub.context), transport::KnownTable::make(via.table))};
}

/// A member that knows how hops look, and sends what it likes.
class Intruder {
  public:
    Intruder(const Context& gate, const ContextId& target, Values more = {})
      : context_(by("tcp, forward", std::move(more)))
      , gate_(hub_at(context_, decode(gate.core()->hub().published().value()).value()))
      , own_(hub_at(context_, decode(context_.core()->hub().published().value()).value())) {
        within(gate_.call(kAttach, own_));
        const auto* const id = reinterpret_cast<const std::byte*>(target.bytes.data());
        open_.assign(id, id + target.bytes.size());
        open_.push_back(std::byte{0});
    }
    void say(Kind kind, std::uint32_t link, std::uint64_t number, std::span<const std::byte> bytes) {
        gate_.send(kHop, static_cast<std::uint8_t>(kind), link, number, bytes);
    }
    void open(std::uint32_t link, std::size_t hello) {
        std::vector<std::byte> bytes = open_;
        bytes.resize(bytes.size() + hello);
        say(Kind::open, link, UINT64_MAX, bytes);
    }
    Context& context() noexcept { return context_; }
    const GlobalPointer<Hub>& gate() const noexcept { return gate_; }
    const GlobalPointer<Hub>& own() const noexcept { return own_; }

  private:
    Context context_;
    GlobalPointer<Hub> gate_;
    GlobalPointer<Hub> own_;
    std::vector<std::byte> open_;
};

TEST_CASE("hops that no honest member sends end the links of their sender only") {
    Context gate(gate_options("gate"));
    Target target(behind(gate.url()));
    Context source(by("tcp, forward"));
    const auto far = handed(source, target.pointer());
    REQUIRE(within(far.call(twice, 1)) == 2);
    const auto warned = expect_warning("broke the rules of relayed links");
    Intruder intruder(gate, target.context().id());
    std::mt19937 random(7);
    const std::vector<std::byte> junk(5000, std::byte{0x5a});
    for (std::uint32_t i = 0; i < 3000; ++i) {
        const auto link = static_cast<std::uint32_t>(random() % 4);
        const std::size_t size = random() % 3 == 0 ? random() % junk.size() : random() % 130;
        if (i % 5 == 0) intruder.open(link, size);
        const std::uint64_t number = random() % 2 == 0 ? random() % 70'000 : UINT64_MAX - random() % 3;
        intruder.say(static_cast<Kind>(random() % 256), link, number, std::span(junk).first(size));
        if (i % 500 == 0) CHECK(within(far.call(twice, i)) == 2 * i);
    }
    intruder.open(77, 112); // relayed; then data before anybody has opened it
    intruder.say(Kind::data, 77, sizes(0, 10), std::span(junk).first(10));
    CHECK(eventually(kLimit, [&] { return warned.count() > 0; }));
    for (std::uint64_t i = 0; i < 1000; ++i) far.send(note, i, std::span(junk).first(i));
    CHECK(eventually(kLimit, [&] { return target.ledger().next == 1000; }));
    CHECK(target.ledger().wrong == 0);
    CHECK(far.method() == "forward:gate");
}

/// Bytes of memory that this process has in use.
std::uint64_t resident() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t all = 0;
    std::uint64_t pages = 0;
    statm >> all >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST_CASE("a member cannot fill a forwarder with what is meant for a target that does not read") {
    if (kSanitized) SKIP_TEST("a sanitizer keeps what is freed");
    const std::size_t hello = GENERATE(0u, 50'000u);
    CAPTURE(hello);
    const KeyFile key;
    const Values keyed{{"job.key_file", key.path()}};
    Process stopped([&](Channel& channel) {
        const auto url = channel.take(kLimit).value();
        Target target(behind({reinterpret_cast<const char*>(url.data()), url.size()}, keyed));
        channel.put(target.pointer().save());
        target.context().run();
        return 0;
    });
    Values small = keyed;
    small.insert({{"forward.memory", "1 MiB"}, {"forward.links", "2"}, {"limits.retain", "1 MiB"}});
    const auto ignored = expect_warning("");
    Context gate(gate_options("gate", std::move(small)));
    const std::string url = gate.url();
    stopped.channel().put(std::as_bytes(std::span(url)));
    const auto saved = stopped.channel().take(kLimit);
    REQUIRE(saved);
    Intruder intruder(gate, GlobalPointer<Ledger>::load(gate, *saved).context(), keyed);
    stopped.kill(SIGSTOP);
    const std::uint64_t before = resident();
    const std::vector<std::byte> junk(50'000, std::byte{0x5a});
    for (std::uint32_t link = 1; link <= 2'000; ++link) {
        intruder.open(link, hello);
        intruder.say(Kind::close, link, 0, junk);
    }
    within(intruder.gate().call(kAttach, intruder.own())); // behind them all
    CHECK(resident() < before + (std::uint64_t{24} << 20));
    stopped.kill(SIGKILL);
}

TEST_CASE("nobody attaches with the pointer of another context") {
    Context gate(gate_options("gate"));
    Intruder intruder(gate, gate.id());
    const Refusal refusal = refusal_of(intruder.gate().call(kAttach, intruder.gate()));
    CHECK(refusal.status == Status::bad_argument);
    CHECK(refusal.says("a pointer of its own"));
}

} // namespace forward_hostile_test
