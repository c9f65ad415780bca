// SPDX-License-Identifier: BSD-3-Clause
// Promise: between processes a link keeps the same promises; a process that is killed is
// noticed in bounded time, whatever it was doing, and the others go on.
#include "support/address.h"
#include "support/catch.h"
#include "support/footprint.h"
#include "support/process.h"
#include "support/sleeper.h"
#include "support/stream.h"

#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace processes_test {

using namespace plexus::testing;

namespace {

// The child's side: a context that says where it is, takes messages, and sends each back.
int echo(Channel& channel) {
    BareHost host(method_under_test());
    host.hooks.message = [](End& end, ByteView message) {
        end.host.push(end, std::make_shared<const Bytes>(message.begin(), message.end()));
    };
    if (!channel.put(Address::of(host).pack())) return 1;
    for (;;) // the parent ends it
        if (host.poll() == 0) std::this_thread::yield();
}

/// True once it has slept for a while and nothing has woken it.
bool comes_to_rest(const Sleeper& sleeper) {
    constexpr auto kAWhile = 50ms;
    return eventually(10s, [&] {
        const std::uint64_t naps = sleeper.naps();
        std::this_thread::sleep_for(kAWhile);
        return sleeper.asleep() && sleeper.naps() == naps;
    });
}

// The child's side: a context that polls only when something wakes it. Asked by any record, it
// answers when it has come to rest.
int sleep_on(Channel& channel) {
    BareHost host(method_under_test());
    if (!channel.put(Address::of(host).pack())) return 1;
    const Sleeper sleeper(host);
    while (channel.take(60s)) // the parent ends it
        if (!comes_to_rest(sleeper) || !channel.put(Bytes(1))) return 1;
    return 1;
}

// Made before the test's own host: some libraries under a module (UCX) can't be used in a
// child of a process that has them open already.
struct Remote {
    explicit Remote(int (*body)(Channel&) = echo)
      : process(body) {
        const auto record = process.channel().take(10s);
        if (!record) throw std::runtime_error("the child gave no descriptor");
        at = Address::unpack(*record);
    }
    Process process;
    Address at;
};

End* link_to(BareHost& host, const Remote& remote) {
    End* end = host.connect(remote.at.descriptor, remote.at.id);
    if (end != nullptr) pump({&host}, 10s, [&] { return end->is_open() || end->is_lost(); });
    return end != nullptr && end->is_open() ? end : nullptr;
}

constexpr std::size_t kLarge = 1'000'000; // of such messages a few do

/// Messages go to and fro without a pause when `remote` is killed.
void kill_in_mid_stream(BareHost& host, Remote& remote, std::size_t size) {
    End* end = link_to(host, remote);
    REQUIRE(end != nullptr);
    Receiver receiver(host, always(size));
    Stream stream(*end, always(size), UINT64_MAX);
    // Without a bound the peer might keep up with us, who would then do little else but send: no send
    // would find the link full, and what the peer sends back would pile up there, by the gigabyte.
    const std::uint64_t most_unanswered = size < kLarge ? 16 : 4;
    const std::uint64_t enough = size < kLarge ? 20 : 5;
    REQUIRE(pump({&host}, 20s, [&] {
        if (stream.sent() < receiver.received() + most_unanswered) stream.step();
        return receiver.received() > enough || end->is_lost();
    }));
    REQUIRE(end->lost_why() == "");
    remote.process.kill(SIGKILL);
    CHECK(pump({&host}, 5s, [&] {
        if (stream.failure() == PLEXUS_OK) stream.step();
        return end->is_lost();
    }));
    CHECK(end->posted() == end->completed());
    CHECK(receiver.fault() == "");
    host.hooks.message = nullptr;
}

/// A child that holds what this process has open, and does nothing. No other thread may run.
class Holder {
  public:
    Holder()
      : pid_(::fork()) {
        if (pid_ < 0) throw std::runtime_error("no process can be forked");
        if (pid_ > 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) ::pause();
    }
    ~Holder() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

  private:
    pid_t pid_;
};

// Ends links, and a context, while a forked child holds all descriptors. 0, or the number of what was not
// kept.
int end_links_beside_a_child(Channel&) {
    Pair pair(method_under_test());
    auto third = std::make_unique<BareHost>(method_under_test());
    End* third_end = nullptr;
    if (link_up(*third, pair.b, &third_end) == nullptr) return 1;
    if (!carry(pair, always(64), 10).empty()) return 2;
    const Holder holder;

    pair.a.disconnect(*pair.to_b);
    if (!pair.pump(10s, [&] { return pair.to_a->is_lost(); })) return 3;
    if (!pair.pump(10s, [&] { return pair.a.query(PLEXUS_QUERY_LINKS) == 0; })) return 4;
    third.reset();
    if (!pair.pump(10s, [&] { return third_end->is_lost(); })) return 5;
    if (!pair.pump(10s, [&] { return pair.b.query(PLEXUS_QUERY_LINKS) == 0; })) return 6;
    const bool sleeps = (method_under_test().ops.caps & PLEXUS_CAP_SLEEP) != 0;
    for (BareHost* host : {&pair.a, &pair.b}) // what has ended must not wake anybody
        if (sleeps && !eventually(10s, [&] { return host->poll() == 0 && !host->sleep(50ms); })) return 7;
    End* far = nullptr;
    End* const near = link_up(pair.a, pair.b, &far);
    if (near == nullptr || !pair.a.push(*near, std::make_shared<const Bytes>(100))) return 8;
    return pair.pump(10s, [&] { return far->received() == 1; }) ? 0 : 9;
}

} // namespace

#define NEEDS_PROCESSES(host, remote)                                                                        \
    if ((host).applies((remote).at.descriptor) != PLEXUS_OK)                                                 \
    SKIP_TEST("this module reaches only its own process")

TEST_CASE("messages of every size go to another process and come back") {
    Remote remote;
    BareHost host(method_under_test());
    NEEDS_PROCESSES(host, remote);
    End* end = link_to(host, remote);
    REQUIRE(end != nullptr);
    const std::uint64_t messages = kSanitized ? 300 : 3'000;
    const SizeOf size_of = mixed(at_most(4'000'000));
    Receiver receiver(host, size_of);
    Stream stream(*end, size_of, messages);
    CHECK(pump({&host}, 60s, [&] {
        stream.step();
        return receiver.received() == messages || !receiver.fault().empty();
    }));
    CHECK(receiver.fault() == "");
    CHECK(pump({&host}, 10s, [&] { return end->posted() == end->completed(); }));
}

TEST_CASE("a process that is killed in mid-stream is noticed") {
    const std::size_t size = at_most(GENERATE(std::size_t{64}, std::size_t{30'000}, std::size_t{3'000'000}));
    CAPTURE(size);
    Remote remote;
    BareHost host(method_under_test());
    NEEDS_PROCESSES(host, remote);
    kill_in_mid_stream(host, remote, size);
}

TEST_CASE("after a process was killed in mid-stream others can be reached") {
    const std::size_t size = at_most(GENERATE(std::size_t{64}, std::size_t{30'000}, std::size_t{3'000'000}));
    CAPTURE(size);
    auto first = std::make_unique<Remote>();
    Remote another;
    BareHost host(method_under_test());
    NEEDS_PROCESSES(host, *first);
    kill_in_mid_stream(host, *first, size);
    first.reset();
    End* end = link_to(host, another);
    REQUIRE(end != nullptr);
    CHECK(host.push(*end, std::make_shared<Bytes>(100)));
    CHECK(pump({&host}, 10s, [&] { return end->take().has_value(); }));
}

TEST_CASE("a process that is killed while it sleeps is noticed by one that sleeps") {
    if ((method_under_test().ops.caps & PLEXUS_CAP_SLEEP) == 0)
        SKIP_TEST("this module cannot sleep (no PLEXUS_CAP_SLEEP)");
    Remote remote(sleep_on);
    BareHost host(method_under_test());
    NEEDS_PROCESSES(host, remote);
    End* end = link_to(host, remote);
    REQUIRE(end != nullptr);
    const Sleeper sleeper(host);
    REQUIRE(remote.process.channel().put(Bytes(1)));
    REQUIRE(remote.process.channel().take(20s * kPatience)); // there
    REQUIRE(comes_to_rest(sleeper));                         // and here
    remote.process.kill(SIGKILL);
    CHECK(eventually(5s, [&] { return end->is_lost(); }));
}

TEST_CASE("nothing is left of processes that were killed") {
    std::vector<std::unique_ptr<Remote>> remotes;
    for (int i = 0; i < 6; ++i) remotes.push_back(std::make_unique<Remote>());
    BareHost host(method_under_test());
    const auto meet_and_kill = [&](Remote& remote) -> bool {
        if (host.applies(remote.at.descriptor) != PLEXUS_OK) return false;
        End* end = link_to(host, remote);
        REQUIRE(end != nullptr);
        host.push(*end, std::make_shared<Bytes>(at_most(1'000'000)));
        for (int i = 0; i < 20; ++i) host.poll();
        remote.process.kill(SIGKILL);
        REQUIRE(pump({&host}, 5s, [&] { return end->is_lost(); }));
        for (int i = 0; i < 20; ++i) host.poll();
        return true;
    };
    if (!meet_and_kill(*remotes[0])) SKIP_TEST("this module reaches only its own process");
    const Footprint before = Footprint::now();
    for (std::size_t i = 1; i < remotes.size(); ++i) REQUIRE(meet_and_kill(*remotes[i]));
    const Footprint after = Footprint::settled(before.threads);
    CHECK(after.descriptors <= before.descriptors + 1);
    CHECK(after.threads <= before.threads);
    CHECK(after.left_since(before).empty());
}

TEST_CASE("a descriptor of a process that has ended leads to nobody") {
    auto remote = std::make_unique<Remote>();
    BareHost host(method_under_test());
    NEEDS_PROCESSES(host, *remote);
    remote->process.kill(SIGKILL);
    remote->process.wait(5s);
    std::int32_t status = PLEXUS_OK;
    End* end = host.connect(remote->at.descriptor, remote->at.id, &status);
    if (end == nullptr) {
        CHECK(status >= 10);
    } else {
        CHECK(pump({&host}, 10s, [&] { return end->is_lost(); }));
        CHECK_FALSE(end->is_opened());
    }
}

TEST_CASE("a connection to a process that is stopped ends in bounded time") {
    Remote remote;
    BareOptions options;
    for (const char* limit : {"connect_timeout", "handshake_timeout"})
        if (method_under_test().preset(limit) != nullptr) options.settings[limit] = "1 s";
    BareHost host(method_under_test(), options);
    NEEDS_PROCESSES(host, remote);
    remote.process.kill(SIGSTOP); // its kernel still answers for it
    End* end = host.connect(remote.at.descriptor, remote.at.id);
    if (end == nullptr) return;
    CHECK(pump({&host}, 20s, [&] { return end->is_lost(); }));
    CHECK_FALSE(end->is_opened());
}

TEST_CASE("a link to a process that has been stopped is given up, and its sends end, in bounded time") {
    Remote remote;
    BareHost host(method_under_test());
    NEEDS_PROCESSES(host, remote);
    End* end = link_to(host, remote);
    REQUIRE(end != nullptr);
    remote.process.kill(SIGSTOP);
    const auto message = std::make_shared<const Bytes>(at_most(3'000'000));
    for (int i = 0; i < 4; ++i) host.send(*end, message, 32, 3);
    for (int i = 0; i < 20; ++i) host.poll();
    host.disconnect(*end);
    CHECK(pump({&host}, 20s,
               [&] { return end->posted() == end->completed() && host.query(PLEXUS_QUERY_LINKS) == 0; }));
}

TEST_CASE("what ends while a forked child holds the descriptors ends for both sides, and wakes nobody") {
    Process process(end_links_beside_a_child);
    CHECK(process.wait(60s) == 0);
}

} // namespace processes_test
