// SPDX-License-Identifier: BSD-3-Clause
// Forwarders that are killed one after the other under one stream, and one that is started again. A short run
// is a case of the suite; TESTED_KILLS and TESTED_KILL_EVERY_MS make it a long one.
#include "gates.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

namespace forward_killed_test {

using namespace plexus;
using namespace plexus::testing;
using Clock = std::chrono::steady_clock;

namespace {

unsigned from_environment(const char* name, unsigned otherwise) {
    const char* const given = std::getenv(name);
    return given == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

/// So many forwarders, and a stream from one end to the other by the first of them that lives.
class Crossing {
  public:
    Crossing(const KeyFile& key, unsigned gates) {
        std::string urls;
        for (unsigned i = 0; i < gates; ++i) {
            gates_.push_back(std::make_unique<Gate>(key, "gate" + std::to_string(i)));
            urls += (i == 0 ? "" : ", ") + gates_.back()->url();
        }
        target_ = std::make_unique<Target>(behind(urls, {{"job.key_file", key.path()}}));
        source_ = std::make_unique<Context>(by("tcp, forward", {{"job.key_file", key.path()}}));
        far_ = handed(*source_, target_->pointer());
    }
    /// Sends numbers of changing size, and a call among them now and then.
    void send(unsigned count) {
        for (unsigned i = 0; i < count; ++i, ++next_)
            far_.send(note, next_, std::span(load_).first(next_ % load_.size()));
        if (next_ % 512 == 0) CHECK(within(far_.call(twice, next_)) == 2 * next_);
    }
    /// The forwarder that the stream leads through now; null: one that was killed.
    Gate* current() {
        const auto found = std::find_if(gates_.begin(), gates_.end(), [&](const auto& gate) {
            return "forward:" + gate->name() == far_.method() && !killed_.contains(gate.get());
        });
        return found == gates_.end() ? nullptr : found->get();
    }
    void kill_current() {
        REQUIRE(eventually(kLimit, [&] {
            send(64);
            return current() != nullptr;
        }));
        Gate* const gate = current();
        killed_.insert(gate);
        gate->process().kill(SIGKILL);
    }
    /// How many forwarders have ended because they were killed.
    std::size_t killed() const {
        return static_cast<std::size_t>(std::count_if(killed_.begin(), killed_.end(), [](Gate* gate) {
            return gate->process().code(kLimit) == 128 + SIGKILL;
        }));
    }
    void settle() {
        REQUIRE(eventually(kLimit, [&] { return target_->ledger().next == next_; }));
        CHECK(target_->ledger().wrong == 0);
        CHECK(within(far_.call(twice, 4)) == 8);
    }

  private:
    std::vector<std::unique_ptr<Gate>> gates_;
    std::unique_ptr<Target> target_;
    std::unique_ptr<Context> source_;
    GlobalPointer<Ledger> far_;
    const std::vector<std::byte> load_{3'000};
    std::uint64_t next_ = 0;
    std::set<Gate*> killed_;
};

} // namespace

TEST_CASE(
    "forwarders killed one after the other lose, double and reorder nothing of a stream while one is left") {
    constexpr unsigned kOfOneStream = 5;
    const KeyFile key;
    const auto ignored = expect_warning("");
    const auto pause = std::chrono::milliseconds(from_environment("TESTED_KILL_EVERY_MS", 50));
    const unsigned all = from_environment("TESTED_KILLS", 3);
    std::size_t killed = 0;
    for (unsigned left = all; left > 0;) {
        const unsigned kills = std::min(left, kOfOneStream);
        left -= kills;
        Crossing crossing(key, kills + 1);
        for (unsigned i = 0; i < kills; ++i) {
            for (const auto until = Clock::now() + pause; Clock::now() < until;) crossing.send(64);
            crossing.kill_current();
        }
        crossing.send(2'000);
        crossing.settle();
        killed += crossing.killed();
    }
    CHECK(killed == all);
}

// It is another context at the same address: rows that name the first lead to the second.
TEST_CASE(
    "a forwarder that is killed and started again at its address serves who was there, and who comes then") {
    const KeyFile key;
    const auto ignored = expect_warning("");
    Gate first(key, "gate");
    Gate second(key, "gate", Gate::Later{}); // forked before there are threads
    const std::string url = first.url();
    Target target(behind(url, {{"job.key_file", key.path()}}));
    const auto source_options = [&] {
        return by("tcp, forward", {{"job.key_file", key.path()},
                                   {"limits.reconnect", "300 ms"},
                                   {"fallback", "forbid"}}); // as if there were no direct way
    };
    Context source(source_options());
    source.on_error([](const Error&) {});
    const auto far = handed(source, target.pointer());
    CHECK(within(far.call(twice, 1)) == 2);
    first.process().kill(SIGKILL);
    CHECK(first.process().code(kLimit) == 128 + SIGKILL);
    CHECK(refusal_of(far.call(twice, 2)).status == Status::peer_lost);
    second.listen_at(url);
    REQUIRE(second.url() == url);
    CHECK(eventually(kLimit, [&] { return refusal_of(far.call(twice, 3)).status == Status::ok; }));
    CHECK(far.method() == "forward:gate");

    // The target's own row names the present forwarder: who gets its pointer now does not ask for the first.
    Context newcomer(source_options());
    const auto fresh = handed(newcomer, target.pointer());
    CHECK(within(fresh.call(twice, 4)) == 8);
    CHECK(fresh.method() == "forward:gate");

    // A pointer of before still leads there, in a context that has never met the first forwarder.
    Context stranger(source_options());
    stranger.on_error([](const Error&) {});
    const auto old = handed(stranger, far);
    CHECK(eventually(kLimit, [&] { return refusal_of(old.call(twice, 5)).status == Status::ok; }));
    CHECK(old.method() == "forward:gate");
}

} // namespace forward_killed_test
