// SPDX-License-Identifier: BSD-3-Clause
// Rounds of an arena: publishing, waiting, reuse of slots, sleeping, and members that differ.
#include "unit/eco_host/members.h"

#include <algorithm>
#include <cstring>

namespace arena_test {

using namespace plexus::testing;
using namespace plexus::eco::host;

namespace {

std::byte value_of(Rank member, std::uint64_t round) {
    return static_cast<std::byte>(member * 31 + round * 7 + 1);
}

/// One round in which every member publishes `bytes` bytes. Empty: all saw what all published.
std::string exchange(SharedArena& arena, std::size_t bytes) {
    const std::uint64_t round = arena.round();
    std::memset(arena.reserve(bytes), static_cast<int>(value_of(arena.me(), round)), bytes);
    arena.publish();
    for (Rank member = 0; member < arena.members(); ++member) {
        const std::byte* const seen = arena.await(member, bytes);
        if (!std::all_of(seen, seen + bytes, [&](std::byte each) { return each == value_of(member, round); }))
            return "the content of member " + std::to_string(member) + " is wrong in round " +
                   std::to_string(round);
    }
    arena.next_round();
    return {};
}

/// Never waits.
class Impatient final : public WaitPolicy {
  public:
    bool idle(Rank member, std::uint32_t) override {
        awaited = member;
        return false;
    }
    Rank awaited = UINT32_MAX;
};

/// Sleeps until it is woken, and counts.
class Sleepy final : public WaitPolicy {
  public:
    explicit Sleepy(SharedArena& arena)
      : arena_(arena) {}
    bool idle(Rank, std::uint32_t) override {
        arena_.sleep(2 * kLimit * kPatience);
        return !stop.load(std::memory_order_acquire);
    }
    std::atomic<bool> stop{false};

  private:
    SharedArena& arena_;
};

/// For what needs no sleep.
constexpr std::chrono::nanoseconds kSoon = std::chrono::seconds(2) * kPatience;

/// Lets another member publish after the last look, then sleeps.
class LateSleeper final : public WaitPolicy {
  public:
    LateSleeper(SharedArena& own, SharedArena& other)
      : own_(own)
      , other_(other) {}
    bool idle(Rank, std::uint32_t) override {
        (void)other_.reserve(8);
        other_.publish(); // nobody sleeps yet: it wakes nobody
        own_.sleep(4 * kSoon);
        return true;
    }

  private:
    SharedArena& own_;
    SharedArena& other_;
};

/// Whether `wait` on the arena of member 0, which has to sleep, returns after `event` on another thread.
template <class Wait, class Event>
bool is_woken(Members& members, Wait wait, Event event) {
    Sleepy policy(members.arena(0));
    std::atomic<bool> over{false};
    std::thread sleeper([&] {
        members.arena(0).begin(1, policy);
        try {
            wait(members.arena(0));
        } catch (const Aborted&) {}
        over.store(true, std::memory_order_release);
    });
    const bool slept = eventually(kLimit, [&] { return members.header->sleepers.load() == 1; });
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // it is in the system call by then, or not
    event();
    const bool woken = eventually(kLimit, [&] { return over.load(std::memory_order_acquire); });
    policy.stop.store(true, std::memory_order_release);
    for (Rank other = 1; !woken && other < members.size(); ++other)
        members.arena(other).publish(); // wakes all
    sleeper.join();
    return slept && woken;
}

} // namespace

TEST_CASE("every member sees what every member publishes, in the header of a slot and in the slot") {
    const bool crowded = GENERATE(false, true);
    const Rank count = GENERATE(Rank{2}, Rank{3}, Rank{5});
    CAPTURE(crowded, count);
    Members members(count, crowded);
    CHECK(members.complaints([](SharedArena& arena) -> std::string {
        for (std::uint32_t turn = 0; turn < 3 * kSlots; ++turn)
            for (const std::size_t bytes :
                 {std::size_t{1}, kInline, kInline + 1, std::size_t{5000}, kSlotBytes})
                if (std::string bad = exchange(arena, bytes); !bad.empty()) return bad;
        return {};
    }) == "");
}

TEST_CASE("a member that is about to sleep sees what was published after its last look") {
    Members members(2, true);
    SharedArena& own = members.arena(0);
    SharedArena& other = members.arena(1);
    std::atomic<bool> never{false};
    Patient patient(never);
    LateSleeper policy(own, other);
    other.begin(1, patient);
    own.begin(1, policy);
    const auto start = std::chrono::steady_clock::now();
    CHECK(own.await(1, 8) != nullptr);
    CHECK(std::chrono::steady_clock::now() - start < 2 * kSoon);
}

TEST_CASE("the slots of all members in turn carry what one member alone publishes") {
    constexpr std::uint32_t kRounds = 4 * kSlots;
    Members members(3);
    CHECK(members.complaints([](SharedArena& arena) -> std::string {
        for (std::uint32_t turn = 0; turn < kRounds; ++turn) {
            const std::size_t bytes = turn % 2 == 0 ? 3000 : 20;
            const std::byte due = value_of(1, arena.round());
            if (arena.me() == 1) {
                std::memset(arena.reserve_single(bytes), static_cast<int>(due), bytes);
                arena.publish();
            } else {
                const std::byte* const seen = arena.await_single(1, bytes);
                if (!std::all_of(seen, seen + bytes, [&](std::byte each) { return each == due; }))
                    return "round " + std::to_string(arena.round());
            }
            arena.next_round();
        }
        return {};
    }) == "");
}

TEST_CASE("a member is at most as many rounds ahead as it has slots") {
    Members members(2);
    SharedArena& fast = members.arena(0);
    SharedArena& slow = members.arena(1);
    Impatient policy;
    fast.begin(1, policy);
    slow.begin(1, policy);
    for (std::uint32_t round = 1; round <= kSlots; ++round) {
        fast.reserve(8);
        fast.publish();
        fast.next_round();
    }
    CHECK_THROWS_AS(fast.reserve(8), Aborted);
    CHECK(policy.awaited == 1);
    slow.next_round(); // it reads nothing more of the first round
    CHECK_NOTHROW(fast.reserve(8));
    CHECK_THROWS_AS(fast.reserve(8, 1), Aborted); // one round further on
}

TEST_CASE("a member that publishes in another call is named") {
    Members members(3);
    Impatient policy;
    for (Rank rank = 0; rank < 3; ++rank) {
        members.arena(rank).begin(rank == 2 ? 7 : 1, policy);
        members.arena(rank).reserve(8);
        members.arena(rank).publish();
    }
    CHECK_NOTHROW(members.arena(0).await(1, 8));
    Rank named = UINT32_MAX;
    try {
        members.arena(0).await(2, 8);
    } catch (const CallMismatch& found) { named = found.member; }
    CHECK(named == 2);
}

TEST_CASE("calls that differed once differ for ever, also if the next ones are alike") {
    Members members(2);
    Impatient policy;
    for (Rank rank = 0; rank < 2; ++rank) {
        members.arena(rank).begin(rank + 1, policy); // a call in which neither waits for the other
        members.arena(rank).next_round();
        members.arena(rank).begin(5, policy);
        members.arena(rank).reserve(8);
        members.arena(rank).publish();
    }
    CHECK_THROWS_AS(members.arena(0).await(1, 8), CallMismatch);
    CHECK_THROWS_AS(members.arena(1).await(0, 8), CallMismatch);
}

TEST_CASE("a member that sleeps is woken by what another one publishes") {
    Members members(2);
    Impatient policy;
    members.arena(1).begin(1, policy);
    CHECK(is_woken(
        members, [](SharedArena& arena) { arena.await(1, 8); },
        [&] {
            members.arena(1).reserve(8);
            members.arena(1).publish();
        }));
}

TEST_CASE("a member that sleeps until a slot is free is woken by the last member that has read it") {
    Members members(2);
    Impatient policy;
    members.arena(1).begin(1, policy);
    CHECK(is_woken(
        members,
        [](SharedArena& arena) {
            for (std::uint32_t round = 0; round <= kSlots; ++round) {
                arena.reserve(8);
                arena.publish();
                arena.next_round();
            }
        },
        [&] { members.arena(1).next_round(); }));
}

TEST_CASE("members read each other's memory where the kernel permits it, and name whom they can't read") {
    Members members(2);
    members.allow_fetching();
    const std::vector<int> theirs{1, 2, 3, 4};
    std::vector<int> mine(4);
    members.arena(0).fetch(1, reinterpret_cast<std::uintptr_t>(theirs.data()),
                           reinterpret_cast<std::byte*>(mine.data()), sizeof(int) * 4);
    CHECK(mine == theirs);
    Rank named = UINT32_MAX;
    int reason = 0;
    try {
        members.arena(0).fetch(1, 8, reinterpret_cast<std::byte*>(mine.data()), 8); // nothing is mapped there
    } catch (const Unreadable& found) {
        named = found.member;
        reason = found.reason;
    }
    CHECK(named == 1);
    CHECK(reason == EFAULT);
}

} // namespace arena_test
