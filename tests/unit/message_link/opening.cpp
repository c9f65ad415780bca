// SPDX-License-Identifier: BSD-3-Clause
// How two ends meet: both learn of each other what they need, and nothing that was changed, or made
// without the key, is believed.
#include "support/catch.h"
#include "unit/message_link/memory_port.h"

#include "message_link/opening.h"

namespace opening_test {

using namespace plexus::testing;
using namespace plexus::message_link;

namespace {

const plexus::message_link::End kHere{3, 0x1122, 64, 4096};
const plexus::message_link::End kThere{9, 0x3344, 32, 8192};

struct Keys {
    BareHost caller{memory_method()};
    BareHost callee{memory_method()};
    BareHost stranger{memory_method(), [] {
                          BareOptions options;
                          options.key = {9, 9, 9};
                          return options;
                      }()};
};

} // namespace

TEST_CASE("both ends learn of each other in three messages") {
    Keys keys;
    Opening from(keys.caller.table(), keys.callee.id());
    Opening to(keys.callee.table());
    const plexus::message_link::Bytes address(50, std::byte{7});

    Hello hello;
    REQUIRE(to.take_hello(from.hello(kHere, address), hello).status == PLEXUS_OK);
    CHECK(hello.end.slot == kHere.slot);
    CHECK(hello.end.token == kHere.token);
    CHECK(hello.end.window == kHere.window);
    CHECK(hello.end.eager == kHere.eager);
    CHECK(hello.descriptor == address);

    Answer answer;
    REQUIRE(from.take_answer(to.answer(kThere, true), answer).status == PLEXUS_OK);
    CHECK(answer.end.slot == kThere.slot);
    CHECK(answer.sees);

    Confirm confirm;
    REQUIRE(to.take_confirm(from.confirm(false), confirm).status == PLEXUS_OK);
    CHECK_FALSE(confirm.sees);
    CHECK(std::memcmp(to.peer().bytes, keys.caller.id().bytes, sizeof to.peer().bytes) == 0);
}

TEST_CASE("a message that was changed anywhere, or that another key signed, proves nothing") {
    Keys keys;
    Opening from(keys.caller.table(), keys.callee.id());
    const plexus::message_link::Bytes hello = from.hello(kHere, {});
    Hello read;
    for (std::size_t at = 0; at < hello.size(); ++at) {
        auto changed = hello;
        changed[at] ^= std::byte{1};
        CHECK(Opening(keys.callee.table()).take_hello(changed, read).status == PLEXUS_AGAIN);
    }
    CHECK(Opening(keys.stranger.table()).take_hello(hello, read).status == PLEXUS_AGAIN);

    Opening to(keys.callee.table());
    REQUIRE(to.take_hello(hello, read).status == PLEXUS_OK);
    const plexus::message_link::Bytes said = to.answer(kThere, false);
    Answer answer;
    for (std::size_t at = 0; at < said.size(); ++at) {
        auto changed = said;
        changed[at] ^= std::byte{1};
        CHECK(from.take_answer(changed, answer).status == PLEXUS_AGAIN);
    }
    CHECK(from.take_answer(said, answer).status == PLEXUS_OK); // the link did not end by those
}

TEST_CASE("a context that is not the one looked for says so, and the other learns it") {
    Keys keys;
    Opening from(keys.caller.table(), keys.stranger.id());
    Opening to(keys.callee.table());
    Hello hello;
    CHECK(to.take_hello(from.hello(kHere, {}), hello).status == PLEXUS_WRONG_PEER);
    Answer answer;
    CHECK(from.take_answer(to.answer(kThere, false), answer).status == PLEXUS_WRONG_PEER);
}

} // namespace opening_test
