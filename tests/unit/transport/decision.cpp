// SPDX-License-Identifier: BSD-3-Clause
// What takes the place of a way that broke: a table with one row for every combination of the facts.
#include "support/catch.h"
#include "transport/failover_decision.h"

#include <array>
#include <string>
#include <string_view>

namespace decision_test {

using namespace plexus;
using namespace plexus::transport;

namespace {

// One column for each fact:
//   W waited   C closing   B said goodbye   G gone   Y was the way   E ended   R broke rules   O opened
//   L other link   V in vain: 0, few, many   A a row applies   F fallback allowed   N wanted   M may return
//   S status: link lost, peer lost, wrong peer, denied, no method   H the last way to the peer
// A row says 0 or 1, a column's own letters, or - for any.
struct Row {
    std::string_view facts;
    Action action;
};
constexpr std::array kTable{
    //   WCBGYEROLVAFNMSH
    Row{"1--0------------", Action::lost},
    Row{"1--1------------", Action::nothing},
    Row{"01--------------", Action::nothing},
    Row{"001-------------", Action::peer_closed},
    Row{"0001------------", Action::nothing},
    Row{"00000----------0", Action::nothing},
    Row{"000001---------1", Action::lost},
    Row{"000000--------p1", Action::lost},
    Row{"000000----11--x1", Action::next_row},
    Row{"000000----10--x1", Action::lost},
    Row{"000000----0---x1", Action::lost},
    Row{"000011----------", Action::lost},
    Row{"000010--------p-", Action::lost},
    // It is open, and the method goes on.
    Row{"00001001"
        "1-----x-",
        Action::use_other_link},
    Row{"00001001"
        "00----x-",
        Action::reconnect},
    Row{"00001001"
        "0f----x-",
        Action::retry},
    // It was open, and brought nothing so often that the method does not go on.
    Row{"00001001"
        "0m111-x-",
        Action::next_row},
    Row{"00001001"
        "0m110-x1",
        Action::next_row},
    Row{"00001001"
        "0m110-x0",
        Action::choose_again},
    Row{"00001001"
        "0m0--1l-",
        Action::await_peer},
    Row{"00001001"
        "0m10-1l-",
        Action::await_peer},
    Row{"00001001"
        "0m0--0x-",
        Action::lost},
    Row{"00001001"
        "0m10-0x-",
        Action::lost},
    Row{"00001001"
        "0m0--1s-",
        Action::lost},
    Row{"00001001"
        "0m10-1s-",
        Action::lost},
    // It was never open.
    Row{"00001000"
        "--111-x-",
        Action::next_row},
    Row{"00001000"
        "--110-x1",
        Action::next_row},
    Row{"00001000"
        "--110-x0",
        Action::choose_again},
    Row{"00001000"
        "--0--1l-",
        Action::await_peer},
    Row{"00001000"
        "--10-1l-",
        Action::await_peer},
    Row{"00001000"
        "--0--0x-",
        Action::lost},
    Row{"00001000"
        "--10-0x-",
        Action::lost},
    Row{"00001000"
        "--0--1s-",
        Action::lost},
    Row{"00001000"
        "--10-1s-",
        Action::lost},
    // The peer broke the rules.
    Row{"0000101-"
        "--111-x-",
        Action::next_row},
    Row{"0000101-"
        "--110-x1",
        Action::next_row},
    Row{"0000101-"
        "--110-x0",
        Action::choose_again},
    Row{"0000101-"
        "--0---x-",
        Action::lost},
    Row{"0000101-"
        "--10--x-",
        Action::lost},
};
constexpr std::size_t kColumns = 16;
constexpr std::array kStatuses{Status::link_lost, Status::peer_lost, Status::wrong_peer, Status::denied,
                               Status::no_method};

bool fits(const Row& row, const std::string& facts) {
    for (std::size_t at = 0; at < kColumns; ++at) {
        const char wanted = row.facts[at];
        const char is = facts[at];
        const bool fit = wanted == '-' || wanted == is || (wanted == 'x' && is != 'p') ||
                         (wanted == 's' && (is == 'w' || is == 'd' || is == 'n'));
        if (!fit) return false;
    }
    return true;
}

/// Calls f(facts, their letters) for every combination.
template <class F>
void for_all(F f) {
    constexpr std::array kInVain{0u, 1u, LinkFacts::kMostInVain, LinkFacts::kMostInVain + 1};
    for (const Status status : kStatuses)
        for (const std::uint32_t in_vain : kInVain)
            for (unsigned bits = 0; bits < 1u << 16; ++bits) {
                BreakFacts facts;
                facts.link.status = status;
                facts.link.in_vain = in_vain;
                bool* const flags[] = {
                    &facts.channel.waited,     &facts.closing,          &facts.link.said_goodbye,
                    &facts.peer.gone,          &facts.link.was_way,     &facts.peer.ended,
                    &facts.link.broke_rules,   &facts.link.opened,      &facts.channel.other_link,
                    &facts.row_applies,        &facts.fallback_allowed, &facts.channel.wanted,
                    &facts.channel.may_return, &facts.peer.denied,      &facts.peer.last_way,
                    &facts.peer.beyond};
                std::string letters;
                for (unsigned at = 0; at < 16; ++at) {
                    *flags[at] = (bits >> at & 1) != 0;
                    if (at < 13) letters += *flags[at] ? '1' : '0';
                }
                letters.insert(9, 1, in_vain == 0 ? '0' : in_vain <= LinkFacts::kMostInVain ? 'f' : 'm');
                letters += status == Status::link_lost    ? 'l'
                           : status == Status::peer_lost  ? 'p'
                           : status == Status::wrong_peer ? 'w'
                           : status == Status::denied     ? 'd'
                                                          : 'n';
                letters += facts.peer.last_way ? '1' : '0';
                f(facts, letters);
            }
}

} // namespace

TEST_CASE("for every combination of facts the decision is that of the one row that fits") {
    std::size_t wrong = 0;
    std::array<std::size_t, kTable.size()> used{};
    for_all([&](const BreakFacts& facts, const std::string& letters) {
        std::size_t fitting = 0;
        Action expected{};
        for (std::size_t at = 0; at < kTable.size(); ++at)
            if (fits(kTable[at], letters)) {
                ++fitting;
                ++used[at];
                expected = kTable[at].action;
            }
        const Decision decision = decide(facts);
        if (fitting == 1 && decision.action == expected) return;
        if (++wrong > 5) return;
        CAPTURE(letters, fitting, int(decision.action), int(expected));
        CHECK(fitting == 1);
        CHECK(decision.action == expected);
    });
    CHECK(wrong == 0);
    for (std::size_t at = 0; at < kTable.size(); ++at) {
        CAPTURE(kTable[at].facts);
        CHECK(used[at] > 0);
    }
}

TEST_CASE("what is lost ends with the reason that an operator can act on") {
    std::size_t wrong = 0;
    for_all([&](const BreakFacts& facts, const std::string&) {
        const Decision decision = decide(facts);
        const bool denied = facts.peer.denied || facts.link.status == Status::denied;
        const bool ended = facts.peer.ended || facts.link.status == Status::peer_lost;
        const bool beyond = !ended && (facts.peer.beyond || facts.link.status == Status::no_method);
        const Status end = decision.action != Action::lost ? Status::ok
                           : denied                        ? Status::denied
                           : beyond                        ? Status::no_method
                                                           : Status::peer_lost;
        wrong += decision.end != end || std::string_view(decision.because).empty();
    });
    CHECK(wrong == 0);
}

TEST_CASE("a decision says why") {
    BreakFacts facts;
    facts.link.was_way = true;
    facts.row_applies = true;
    CHECK(std::string_view(decide(facts).because) == "falling back is forbidden");
    facts.row_applies = false;
    CHECK(std::string_view(decide(facts).because) == "no other method applies");
    facts.channel.waited = true;
    CHECK(std::string_view(decide(facts).because) == "the peer did not connect again");
}

} // namespace decision_test
