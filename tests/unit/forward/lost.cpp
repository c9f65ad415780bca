// SPDX-License-Identifier: BSD-3-Clause
// Forwarders that are killed, receivers that stand still, members that break the rules of relayed links.
#include "gates.h"

#include "base/unique_fd.h"
#include "bootstrap/url.h"
#include "forward/hop.h"

#include <atomic>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>

namespace forward_lost_test {

using namespace plexus;
using namespace plexus::testing;

constexpr auto kWait = kLimit;

namespace {

/// Listens where a forwarder was, says nothing to whoever asks there, and counts them.
class Vacancy {
  public:
    explicit Vacancy(const std::string& url) {
        const auto at = bootstrap::resolve(bootstrap::parse_url(url).value()).value().front();
        listener_ = UniqueFd(::socket(at.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const int on = 1;
        ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        const bool listens = ::bind(listener_.get(), at.data(), static_cast<socklen_t>(at.size())) == 0 &&
                             ::listen(listener_.get(), 16) == 0;
        if (!listens) throw std::runtime_error("nobody can listen at " + url);
        thread_ = std::thread([this] {
            while (UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC))) ++asked_;
        });
    }
    ~Vacancy() {
        ::shutdown(listener_.get(), SHUT_RDWR); // wakes accept4()
        thread_.join();
    }
    int asked() const { return asked_; }

  private:
    UniqueFd listener_;
    std::atomic<int> asked_{0};
    std::thread thread_;
};

} // namespace

TEST_CASE(
    "a forwarder killed in the middle of a stream loses, doubles and reorders nothing if there is a second") {
    const KeyFile key;
    for (int round = 0; round < 5; ++round) {
        Gate first(key, "first");
        Gate second(key, "second");
        const auto ignored = expect_warning("may not have been delivered");
        Target target(behind(first.url() + ", " + second.url(), {{"job.key_file", key.path()}}));
        Context source(by("tcp, forward", {{"job.key_file", key.path()}}));
        const auto far = handed(source, target.pointer());
        std::vector<std::byte> load(3000);
        constexpr std::uint64_t kCount = 6'000;
        for (std::uint64_t i = 0; i < kCount; ++i) {
            far.send(note, i, std::span(load).first(i % load.size()));
            if (i == 1'000) CHECK(far.method() == "forward:first");
            if (i == 2'000 + 100 * static_cast<std::uint64_t>(round)) first.process().kill(SIGKILL);
        }
        CHECK(eventually(kWait, [&] { return target.ledger().next == kCount; }));
        CHECK(target.ledger().wrong == 0);
        CHECK(far.method() == "forward:second");
        CHECK(within(far.call(twice, 4)) == 8);
    }
}

// It has said goodbye, so no link to it is tried any more whose failure would be a reason to ask.
TEST_CASE("a context without links whose forwarder has ended asks at its address until another is there") {
    const auto ignored = expect_warning("may not have been delivered");
    std::optional<Context> gate(std::in_place, gate_options("gate"));
    const std::string url = gate->url();
    Target target(behind(url));
    gate.reset();
    {
        const Vacancy nobody(url);
        CHECK(eventually(kWait, [&] { return nobody.asked() >= 3; })); // in vain
    }
    gate.emplace(gate_options("gate", {{"listen", url}}));
    CHECK(eventually(kWait, [&] { // a context that was refused does not ask for the same row again
        Context source(by("tcp, forward"));
        auto far = handed(source, target.pointer());
        far.use("forward");
        return refusal_of(far.call(twice, 4)).status == Status::ok;
    }));
}

TEST_CASE("a target without any forwarder left is lost, and the reason names the way") {
    const KeyFile key;
    Gate only(key, "only");
    const auto ignored = expect_warning("may not have been delivered");
    Target target(behind(only.url(), {{"job.key_file", key.path()}}));
    Context source(by("tcp, forward", {{"job.key_file", key.path()}, {"fallback", "forbid"}}));
    const auto far = handed(source, target.pointer());
    CHECK(within(far.call(twice, 4)) == 8);
    only.process().kill(SIGKILL);
    const Refusal refusal = refusal_of(far.call(twice, 4));
    INFO(refusal.why);
    CHECK((refusal.status == Status::peer_lost || refusal.status == Status::message_lost ||
           refusal.status == Status::no_method));
    CHECK(refusal.says("forward:only"));
}

TEST_CASE("a receiver that is stopped fills its share of the forwarder, and slows no other pair") {
    const KeyFile key;
    Gate gate(key, "gate", {{"forward.memory", "2 MiB"}, {"forward.links", "4"}});
    const std::string url = gate.url();
    const auto ended = expect_warning("may not have been delivered"); // to whom is killed in the end
    Process stopped([&, path = key.path()](Channel& channel) {
        Target target(behind(url, {{"job.key_file", path}}));
        channel.put(target.pointer().save());
        target.context().run();
        return 0;
    });
    const auto saved = stopped.channel().take(kWait);
    REQUIRE(saved);
    Target other(behind(url, {{"job.key_file", key.path()}}));
    Context source(by("tcp, forward", {{"job.key_file", key.path()}}));
    auto slow = GlobalPointer<Ledger>::load(source, *saved);
    slow.use("forward");
    CHECK(within(slow.call(twice, 1)) == 2);
    const auto fast = handed(source, other.pointer());
    CHECK(within(fast.call(twice, 1)) == 2);
    const std::uint64_t before = gate.resident();
    stopped.kill(SIGSTOP);
    std::vector<std::byte> load(16 * 1024);
    std::thread pusher([&] { // waits as soon as there is no room
        for (std::uint64_t i = 0; i < 2'000; ++i) slow.send(note, i, load);
    });
    for (std::uint64_t i = 0; i < 2'000; ++i) fast.send(note, i, load);
    CHECK(eventually(kWait, [&] { return other.ledger().next == 2'000; }));
    CHECK(other.ledger().wrong == 0);
    if (!kSanitized)
        CHECK(gate.resident() < before + (std::uint64_t{12} << 20)); // a sanitizer keeps what is freed
    stopped.kill(SIGCONT);
    pusher.join();
    CHECK(within(slow.call(twice, 5)) == 10);
    source.on_error([](const Error&) {});
    stopped.kill(SIGKILL);
}

TEST_CASE("a target that its forwarder has lost and that comes back is relayed to again") {
    const KeyFile key;
    Gate gate(key, "gate",
              {{"limits.silence", "300 ms"},
               {"limits.reconnect", "300 ms"},
               {"method.tcp.connect_timeout", "300 ms"}});
    const std::string url = gate.url();
    Process sleeper([&, path = key.path()](Channel& channel) {
        Target target(behind(url, {{"job.key_file", path}}));
        target.context().on_error([](const Error&) {});
        channel.put(target.pointer().save());
        target.context().run();
        return 0;
    });
    const auto saved = sleeper.channel().take(kWait);
    REQUIRE(saved);
    const auto ignored = expect_warning("may not have been delivered");
    Context source(by("tcp, forward", {{"job.key_file", key.path()}, {"limits.reconnect", "300 ms"}}));
    source.on_error([](const Error&) {});
    auto far = GlobalPointer<Ledger>::load(source, *saved);
    far.use("forward");
    CHECK(within(far.call(twice, 1)) == 2);
    for (std::uint64_t round = 2; round < 4; ++round) {
        sleeper.kill(SIGSTOP);
        CHECK(refusal_of(far.call(twice, round)).status != Status::ok);
        sleeper.kill(SIGCONT);
        CHECK(eventually(kWait, [&] {
            far.use("forward"); // the row that was in vain is asked again
            return refusal_of([&] { return within(far.call(twice, round)); }).status == Status::ok;
        }));
    }
}

} // namespace forward_lost_test
