// SPDX-License-Identifier: BSD-3-Clause
// The soak's accounts notice what is missing, doubled, late, or answered and never received.
#include "soak/ledger.h"
#include "support/catch.h"

namespace accounts_test {

using namespace plexus::soak;

namespace {

Received of(std::initializer_list<std::uint64_t> numbers) {
    Received received;
    for (const std::uint64_t each : numbers) received.take(each);
    return received;
}

Sent sent_up_to(std::uint64_t next) {
    Sent sent;
    sent.next = next;
    return sent;
}

} // namespace

TEST_CASE("numbers that come once each and in order are all accounted for") {
    const Received received = of({0, 1, 2, 3});
    CHECK(received.repeated() == 0);
    CHECK(received.late() == 0);
    CHECK(received.missing().empty());
    CHECK(compare(sent_up_to(4), received).unaccounted == 0);
}

TEST_CASE("a number that comes twice, or behind a larger one, is noticed, also in a gap") {
    CHECK(of({0, 1, 1}).repeated() == 1);
    const Received late = of({0, 5, 3, 3, 1});
    CHECK(late.late() == 2);
    CHECK(late.repeated() == 1);
    CHECK(late.missing() == std::vector<Range>{{2, 2}, {4, 4}});
    CHECK(Received::from(late.text()).missing() == late.missing());
}

TEST_CASE("what is missing counts unless its sender was told") {
    const Received received = of({0, 1, 4});
    Sent sent = sent_up_to(7);
    CHECK(compare(sent, received).unaccounted == 4);
    sent.refused = {2, 6, 4};
    CHECK(compare(sent, received).unaccounted == 2);
    sent.told = 1;
    CHECK(compare(sent, received).unaccounted == 1);
    const Sent again = Sent::from(sent.text());
    CHECK(compare(again, received).unaccounted == 1);
    sent.lost_events = 1;
    CHECK(compare(sent, received).unaccounted == 0);
}

TEST_CASE("a call that was answered and never came is untrue") {
    Sent sent = sent_up_to(3);
    sent.answered = {0, 2};
    CHECK(compare(sent, of({0, 1})).untrue == 1);
    CHECK(compare(Sent::from(sent.text()), of({0, 1, 2})).untrue == 0);
}

} // namespace accounts_test
