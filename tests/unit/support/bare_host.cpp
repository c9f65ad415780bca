// SPDX-License-Identifier: BSD-3-Clause
// The bare host notices a module that breaks its contract. A module that does whatever
// the test tells it, from inside poll or outside, stands in for a bad one.
#include "support/bare_host.h"
#include "plexus/module/module.h"
#include "support/catch.h"
#include "support/log_guard.h"

namespace bare_host_test {

using namespace plexus::testing;

namespace {

// What the stand-in does at its next poll, and what it knows of its only link.
struct Puppet {
    const plexus_host* host = nullptr;
    void* cookie = nullptr;
    void* token = nullptr;
    std::function<void()> at_poll;
};
Puppet puppet;

std::byte nothing; // handles need an address only

std::int32_t open(const plexus_host* host, plexus_module** module) {
    puppet = {};
    puppet.host = host;
    *module = reinterpret_cast<plexus_module*>(&nothing);
    return PLEXUS_OK;
}

std::int32_t connect(plexus_module*, plexus_view, const plexus_id*, void* cookie, plexus_link** link) {
    puppet.cookie = cookie;
    *link = reinterpret_cast<plexus_link*>(&nothing);
    return PLEXUS_OK;
}

std::int32_t send(plexus_link*, const plexus_view*, std::uint32_t, void* token) {
    puppet.token = token;
    return PLEXUS_POSTED;
}

std::int32_t poll(plexus_module*, std::uint32_t) {
    if (!puppet.at_poll) return 0;
    std::exchange(puppet.at_poll, nullptr)();
    return 1;
}

Method puppet_method() {
    Method method;
    method.name = "puppet";
    method.ops.size = PLEXUS_OPS_SIZE;
    method.ops.open = open;
    method.ops.close = [](plexus_module*) {};
    method.ops.drain = [](plexus_module*) {};
    method.ops.destroy = [](plexus_module*) {};
    method.ops.connect = connect;
    method.ops.disconnect = [](plexus_link*) {};
    method.ops.send = send;
    method.ops.poll = poll;
    return method;
}

void opened() { puppet.host->opened(puppet.cookie); }
void lost() { puppet.host->lost(puppet.cookie, PLEXUS_LINK_LOST, plexus::module::view("cut")); }
void deliver(std::size_t offset) {
    alignas(8) static const std::array<std::byte, 64> room{};
    puppet.host->deliver(puppet.cookie, {room.data() + offset, 16});
}

// Lets the stand-in do `wrong` in a poll of an open link; what the host made of it.
std::size_t noticed(const char* sentence, const std::function<void()>& wrong, bool open_first = true) {
    const auto expected = expect_warning(sentence);
    BareHost host(puppet_method());
    host.connect({}, random_id());
    if (open_first) {
        puppet.at_poll = opened;
        host.poll();
    }
    puppet.at_poll = wrong;
    host.poll();
    return expected.count();
}

} // namespace

TEST_CASE("a link that behaves is not blamed") {
    const LogGuard guard;
    BareHost host(puppet_method());
    End* end = host.connect({}, random_id());
    puppet.at_poll = opened;
    host.poll();
    CHECK(host.send(*end, std::make_shared<Bytes>(100), 16, 2) == PLEXUS_POSTED);
    puppet.at_poll = [] {
        deliver(0);
        puppet.host->sent(puppet.cookie, puppet.token, PLEXUS_OK);
        lost();
    };
    host.poll();
    CHECK(end->received() == 1);
    CHECK(end->posted() == end->completed());
    CHECK(end->lost_why() == "cut");
    CHECK(guard.unexpected() == 0);
}

TEST_CASE("callbacks out of order are noticed") {
    CHECK(noticed("`opened` came for an end that was open already", opened) == 1);
    CHECK(noticed(
              "`deliver` came before `opened`", [] { deliver(0); }, false) == 1);
    CHECK(noticed("`lost` came twice", [] {
              const auto after = expect_warning("came after disconnect");
              lost();
              lost();
          }) == 1);
    CHECK(noticed("`deliver` came after `lost`", [] {
              const auto after = expect_warning("came after disconnect");
              lost();
              deliver(0);
          }) == 1);
}

TEST_CASE("a message that is not aligned is noticed") {
    CHECK(noticed("not 8-byte aligned", [] { deliver(4); }) == 1);
}

TEST_CASE("a completion of something that was never posted is noticed") {
    CHECK(noticed("`sent` came for something",
                  [] { puppet.host->sent(puppet.cookie, &nothing, PLEXUS_OK); }) == 1);
    CHECK(noticed("`placed` came for something",
                  [] { puppet.host->placed(puppet.cookie, &nothing, PLEXUS_OK); }) == 1);
}

TEST_CASE("a loss before the last completion is noticed") {
    const auto expected = expect_warning("before every posted send was ended");
    BareHost host(puppet_method());
    End* end = host.connect({}, random_id());
    puppet.at_poll = opened;
    host.poll();
    host.send(*end, std::make_shared<Bytes>(100), 16, 2);
    puppet.at_poll = lost;
    host.poll();
    CHECK(expected.count() == 1);
}

TEST_CASE("a callback from outside poll, after disconnect, or after drain is noticed") {
    const auto outside = expect_warning("from outside poll");
    const auto given_up = expect_warning("came after disconnect");
    const auto drained = expect_warning("came after drain");
    BareHost host(puppet_method());
    End* end = host.connect({}, random_id());
    opened();
    CHECK(outside.count() == 1);
    host.disconnect(*end);
    puppet.at_poll = [] { deliver(0); };
    host.poll();
    CHECK(given_up.count() == 1);
    host.close();
    host.drain();
    deliver(0);
    CHECK(drained.count() == 1);
}

} // namespace bare_host_test
