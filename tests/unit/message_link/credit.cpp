// SPDX-License-Identifier: BSD-3-Clause
// Credit: nothing goes beyond the window, and every message that is taken makes room again.
#include "support/catch.h"

#include "message_link/credit.h"

namespace credit_test {

using plexus::message_link::Credit;

TEST_CASE("as many messages go as the window has room for") {
    Credit credit;
    CHECK_FALSE(credit.may_send()); // the window is not known yet
    credit.open(3);
    for (int i = 0; i < 3; ++i) {
        REQUIRE(credit.may_send());
        credit.count_sent();
    }
    CHECK_FALSE(credit.may_send());
    credit.acknowledge(1);
    CHECK(credit.may_send());
    credit.count_sent();
    CHECK_FALSE(credit.may_send());
}

TEST_CASE("an older count than the last one takes no room away") {
    Credit credit;
    credit.open(4);
    for (int i = 0; i < 4; ++i) credit.count_sent();
    credit.acknowledge(3);
    credit.acknowledge(1);
    for (int i = 0; i < 3; ++i) {
        CHECK(credit.may_send());
        credit.count_sent();
    }
    CHECK_FALSE(credit.may_send());
}

TEST_CASE("the peer is told when half of the window was taken since it was told") {
    Credit credit;
    CHECK_FALSE(credit.take(8));
    CHECK_FALSE(credit.take(8));
    CHECK_FALSE(credit.take(8));
    CHECK(credit.take(8));
    credit.told(credit.taken());
    CHECK_FALSE(credit.take(8));
    CHECK(credit.taken() == 5);
    Credit narrow;
    CHECK(narrow.take(1));
}

TEST_CASE("a peer that sends more than it was told is noticed, and what it is told makes room") {
    Credit credit;
    for (int i = 0; i < 3; ++i) CHECK(credit.arrive(3));
    CHECK_FALSE(credit.arrive(3));

    Credit told;
    for (int i = 0; i < 3; ++i) CHECK(told.arrive(3));
    (void)told.take(3);
    told.told(told.taken());
    CHECK(told.arrive(3));
    (void)told.take(3); // of which the peer does not know
    CHECK_FALSE(told.arrive(3));
}

TEST_CASE("a sender and a receiver go on for ever, also where the counts begin again at zero") {
    constexpr std::uint16_t kWindow = 7;
    Credit sender;
    Credit receiver;
    sender.open(kWindow);
    std::uint32_t sent = 0;
    std::uint32_t taken = 0;
    for (int i = 0; i < 200'000; ++i) {
        if (sender.may_send()) {
            sender.count_sent();
            ++sent;
            REQUIRE(receiver.arrive(kWindow));
        }
        REQUIRE(sent - taken <= kWindow);
        if (i % 3 == 0 && taken == sent) continue;
        ++taken;
        if (!receiver.take(kWindow)) continue;
        sender.acknowledge(receiver.taken());
        receiver.told(receiver.taken());
    }
    CHECK(sent > 130'000); // twice around
}

} // namespace credit_test
