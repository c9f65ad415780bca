// SPDX-License-Identifier: BSD-3-Clause
// The choice of a copy strategy by itself, on simulated machines that favour each strategy in turn.
#include "support/catch.h"

#include "shm/copy_choice.h"

#include <deque>
#include <random>
#include <utility>
#include <vector>

namespace copy_choice_test {

using namespace plexus::shm;

namespace {

constexpr std::array kStrategies{Copy::cached, Copy::nontemporal, Copy::fetch};
constexpr CopySet kAll = CopySet().add(Copy::cached).add(Copy::nontemporal).add(Copy::fetch);
constexpr CopySet kCopied = CopySet().add(Copy::cached).add(Copy::nontemporal);

/// What a byte costs by each strategy, and how far one message differs from another.
struct Machine {
    std::array<double, kCopies> cost{};
    double noise = 0;             ///< up to this share more or less
    double interrupted = 0;       ///< share of messages that take 20 times as long
    std::size_t answer_after = 0; ///< messages that are on their way at once
};

Machine machine_for(Copy best, double worse, double much_worse) {
    Machine machine;
    machine.cost.fill(worse);
    machine.cost[(static_cast<std::size_t>(best) + 1) % kCopies] = much_worse;
    machine.cost[static_cast<std::size_t>(best)] = 1;
    return machine;
}

/// Sends messages by a choice and counts what they cost, without interruptions: these hit every strategy.
class Run {
  public:
    Run(CopyChoice& choice, std::uint64_t bytes, CopySet allowed)
      : choice_(choice)
      , bytes_(bytes)
      , allowed_(allowed) {}

    void send(const Machine& machine, std::size_t messages) {
        std::uniform_real_distribution<double> part(0, 1);
        for (const std::size_t end = now_ + messages; now_ < end; ++now_) {
            const CopyChoice::Pick pick = choice_.next(bytes_, allowed_, open_.size() < 16);
            REQUIRE(allowed_.has(pick.copy));
            choice_.sent(bytes_, pick);
            const auto index = static_cast<std::size_t>(pick.copy);
            double cost = machine.cost[index] * static_cast<double>(bytes_);
            ++count_[index];
            measured_ += pick.measure ? 1 : 0;
            total_ += cost;
            cost *= 1 + machine.noise * (2 * part(random_) - 1);
            if (part(random_) < machine.interrupted) cost *= 20;
            if (pick.measure) open_.push_back({pick, static_cast<std::uint64_t>(cost), now_});
            while (!open_.empty() && now_ >= open_.front().sent + machine.answer_after) {
                choice_.note(bytes_, open_.front().pick, open_.front().ns);
                open_.pop_front();
            }
        }
        messages_ += messages;
    }

    Copy best() const { return choice_.learned()[CopyChoice::class_of(bytes_)].copy; }
    double mean_cost() const { return total_ / static_cast<double>(messages_ * bytes_); }
    double share_without(Copy copy) const {
        return 1 -
               static_cast<double>(count_[static_cast<std::size_t>(copy)]) / static_cast<double>(messages_);
    }
    double measured_share() const { return static_cast<double>(measured_) / static_cast<double>(messages_); }
    void forget() {
        total_ = 0;
        messages_ = measured_ = 0;
        count_ = {};
    }

  private:
    struct Open {
        CopyChoice::Pick pick;
        std::uint64_t ns;
        std::size_t sent;
    };
    CopyChoice& choice_;
    std::uint64_t bytes_;
    CopySet allowed_;
    std::mt19937 random_{7};
    std::deque<Open> open_;
    std::array<std::size_t, kCopies> count_{};
    std::size_t now_ = 0;
    std::size_t messages_ = 0;
    std::size_t measured_ = 0;
    double total_ = 0;
};

} // namespace

TEST_CASE("each size from 4 KiB on has a class, and a class is a power of two") {
    CHECK(CopyChoice::class_of(4096) == 0);
    CHECK(CopyChoice::class_of(8191) == 0);
    CHECK(CopyChoice::class_of(8192) == 1);
    CHECK(CopyChoice::class_of((1 << 24) - 1) == CopyChoice::kClasses - 2);
    CHECK(CopyChoice::class_of(1 << 24) == CopyChoice::kClasses - 1);
    CHECK(CopyChoice::class_of(UINT64_MAX) == CopyChoice::kClasses - 1);
}

TEST_CASE("the strategy that the machine favours is found within 200 messages of a size, and costs at most a "
          "tenth more than if it had been known") {
    const Copy favoured = GENERATE(from_range(kStrategies.begin(), kStrategies.end()));
    const double worse = GENERATE(1.15, 1.4, 3.0, 8.0);
    const double noise = GENERATE(0.0, 0.2);
    CAPTURE(static_cast<int>(favoured), worse, noise);
    Machine machine = machine_for(favoured, worse, worse * 1.5);
    machine.noise = noise;
    machine.interrupted = noise / 10;
    // Half of the gap may be lost in the noise of one trial.
    const bool is_clear = worse >= 1 + 2 * noise || noise == 0;
    for (const std::uint64_t bytes : {std::uint64_t{4096}, std::uint64_t{100'000}, std::uint64_t{20} << 20}) {
        CopyChoice choice(0);
        Run run(choice, bytes, kAll);
        run.send(machine, 200);
        if (is_clear) CHECK(run.best() == favoured);
        CHECK(machine.cost[static_cast<std::size_t>(run.best())] <= (is_clear ? 1.0 : worse));
        run.send(machine, 3'000);
        CHECK(run.mean_cost() <= 1.1);
    }
}

TEST_CASE("a change of costs is noticed within 1,000 messages") {
    const Copy before = GENERATE(from_range(kStrategies.begin(), kStrategies.end()));
    const Copy after = GENERATE(from_range(kStrategies.begin(), kStrategies.end()));
    const double worse = GENERATE(1.3, 2.0, 6.0);
    const double noise = GENERATE(0.0, 0.1);
    if (before == after) return;
    CAPTURE(static_cast<int>(before), static_cast<int>(after), worse, noise);
    Machine machine = machine_for(before, worse, worse * 1.5);
    machine.noise = noise;
    machine.interrupted = noise / 10;
    for (const std::size_t first : {std::size_t{1'000}, std::size_t{5'003}}) {
        CopyChoice choice(0);
        Run run(choice, 65'536, kAll);
        run.send(machine, first);
        REQUIRE(run.best() == before);
        Machine changed = machine_for(after, worse, worse * 1.5);
        changed.noise = noise;
        changed.interrupted = noise / 10;
        run.send(changed, 1'000);
        CHECK(run.best() == after);
        run.forget();
        run.send(changed, 2'000);
        CHECK(run.mean_cost() <= 1.1);
    }
}

TEST_CASE(
    "in the long run other strategies than the best get less than 2 % of the bytes, and few messages are "
    "measured") {
    const double worse = GENERATE(1.0, 1.06, 1.5, 4.0);
    CopyChoice choice(0);
    Run run(choice, 1 << 20, kAll);
    Machine machine = machine_for(Copy::cached, worse, worse);
    machine.cost[0] = 0.99;
    run.send(machine, 5'000);
    run.forget();
    run.send(machine, 50'000);
    CHECK(run.share_without(run.best()) < 0.02);
    CHECK(run.measured_share() < 0.03);
}

TEST_CASE(
    "costs that are known late only are used as well, and a trial has no more messages on their way than "
    "it plans") {
    const std::size_t late = GENERATE(1, 5, 100, 1'000);
    CopyChoice choice(0);
    Run run(choice, 4096, kCopied);
    Machine machine = machine_for(Copy::nontemporal, 1.5, 1.5);
    machine.answer_after = late;
    run.send(machine, 2 * late + 200);
    CHECK(run.best() == Copy::nontemporal);
}

// Where a message lies that was copied past the caches, a copy through them is slow.
TEST_CASE(
    "a strategy whose cost depends on what was used before is judged by its cost when it is used alone") {
    const double cached = GENERATE(0.6, 1.5);
    const std::uint64_t bytes = GENERATE(4'096, 65'536);
    constexpr std::uint64_t kArea = 1 << 22;
    CAPTURE(cached, bytes);
    CopyChoice choice(kArea);
    const std::size_t lap = kArea / bytes;
    std::vector<bool> past(lap, true); // each place of the area: what was there went past the caches
    std::size_t through = 0;
    const auto run = [&](std::size_t messages) {
        through = 0;
        for (std::size_t i = 0; i < messages; ++i) {
            const CopyChoice::Pick pick = choice.next(bytes, kCopied, true);
            choice.sent(bytes, pick);
            const bool is_cached = pick.copy == Copy::cached;
            const double cost = is_cached ? cached + (past[i % lap] ? 1.0 : 0.0) : 1.0;
            past[i % lap] = !is_cached;
            through += is_cached ? 1 : 0;
            if (pick.measure) choice.note(bytes, pick, static_cast<std::uint64_t>(cost * 1e6));
        }
    };
    run(200 * lap);
    run(1'000 * lap);
    const double share = static_cast<double>(through) / (1'000.0 * static_cast<double>(lap));
    if (cached < 1)
        CHECK(share > 0.98);
    else
        CHECK(share < 0.02);
}

TEST_CASE("classes learn apart from each other") {
    CopyChoice choice(0);
    Run small(choice, 16'384, kCopied);
    Run large(choice, 1 << 22, kAll);
    for (int i = 0; i < 200; ++i) {
        small.send(machine_for(Copy::cached, 1.5, 1.5), 1);
        large.send(machine_for(Copy::fetch, 1.5, 1.5), 1);
    }
    CHECK(small.best() == Copy::cached);
    CHECK(large.best() == Copy::fetch);
    CHECK(choice.learned()[0].cost(Copy::cached) == 0);
    const float cost = choice.learned()[CopyChoice::class_of(16'384)].cost(Copy::cached);
    CHECK((cost > 0.99F && cost < 1.01F));
}

TEST_CASE("one strategy that is allowed is used and never measured") {
    const Copy only = GENERATE(from_range(kStrategies.begin(), kStrategies.end()));
    CopyChoice choice(0);
    Run run(choice, 1 << 20, CopySet().add(only));
    run.send(machine_for(Copy::cached, 2, 3), 500);
    CHECK(run.share_without(only) == 0);
    CHECK(run.measured_share() == 0);
}

TEST_CASE("a strategy that is not allowed any more is not used any more, also within a trial") {
    const std::size_t first = GENERATE(1, 3, 8, 100, 1'000);
    CopyChoice choice(0);
    const Machine machine = machine_for(Copy::fetch, 1.5, 2);
    Run before(choice, 1 << 20, kAll);
    before.send(machine, first);
    Run after(choice, 1 << 20, kCopied); // requires that what is picked is allowed
    after.send(machine, 200);
    CHECK(choice.next(1 << 20, kCopied, false).copy == Copy::nontemporal);
}

TEST_CASE("where only one strategy is left in the middle of a trial, that one is used") {
    const std::size_t first = GENERATE(1, 2, 3, 4, 5);
    CopyChoice choice(0);
    Run before(choice, 1 << 20, kAll);
    before.send(machine_for(Copy::fetch, 1.5, 2), first);
    for (const Copy only : kStrategies) {
        CHECK(choice.next(1 << 20, CopySet().add(only), true).copy == only);
        CHECK(choice.next(1 << 20, CopySet().add(only), false).copy == only);
    }
}

TEST_CASE("one message of each trial that is interrupted does not decide it") {
    CopyChoice choice(0);
    std::uint32_t interrupted = 0; // the trial that had its interruption
    for (int i = 0; i < 2'000; ++i) {
        const CopyChoice::Pick pick = choice.next(4096, kCopied, true);
        choice.sent(4096, pick);
        if (!pick.measure) continue;
        std::uint64_t ns = pick.copy == Copy::cached ? 1'000 : 1'500;
        if (pick.copy == Copy::cached && std::exchange(interrupted, pick.trial) != pick.trial) ns *= 20;
        choice.note(4096, pick, ns);
    }
    CHECK(choice.learned()[0].copy == Copy::cached);
}

TEST_CASE("a message that is refused is picked again, and costs that are unknown end a trial all the same") {
    CopyChoice choice(0);
    const CopyChoice::Pick first = choice.next(4096, kCopied, true);
    REQUIRE(first.measure);
    CHECK(choice.next(4096, kCopied, true).copy == first.copy);
    for (int i = 0; i < 8; ++i) {
        const CopyChoice::Pick pick = choice.next(4096, kCopied, true);
        REQUIRE(pick.measure);
        choice.sent(4096, pick);
        choice.note(4096, pick, 0);
    }
    const CopyChoice::Pick later = choice.next(4096, kCopied, true);
    CHECK_FALSE(later.measure);
    CHECK(later.copy == Copy::cached);
}

} // namespace copy_choice_test
