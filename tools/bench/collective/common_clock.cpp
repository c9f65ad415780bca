// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/collective/common_clock.h"

#include <limits>
#include <thread>

namespace plexus::tools::benchmark {
namespace {

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMillisecond = 1000 * kMicrosecond;
constexpr std::int64_t kDrifted = 20'000 * kMillisecond;
/// Exchanges: few if they take long, so that many far contexts are done in seconds.
constexpr int kMostRounds = 30;
constexpr int kLeast = 4;
constexpr eco::Rank kMany = 32; // contexts
constexpr eco::Rank kTogether = 8;
constexpr std::int64_t kPatience = 50 * kMillisecond;

constexpr const char* kName = "plexus.bench.clock";
inline constexpr Request<std::int64_t(CommonClock::Face&)> read_clock{"plexus.bench.read_clock"};

} // namespace

CommonClock::CommonClock(Context& here, const eco::Group& world)
  : here_(here)
  , world_(world)
  , bound_(here.bind(face_)) {
    here.on(read_clock, [](Face&) { return own(); });
    if (here.rank() == 0) here.publish(kName, bound_.pointer());
    first_ = here.lookup<Face>(kName).get();
}

void CommonClock::ask() {
    std::int64_t quickest = std::numeric_limits<std::int64_t>::max();
    const std::int64_t begun = own();
    for (int at = 0; at < kMostRounds && (at < kLeast || own() - begun < kPatience); ++at) {
        const std::int64_t before = own();
        const std::int64_t there = first_.call(read_clock).get();
        const std::int64_t trip = own() - before;
        if (trip >= quickest) continue;
        quickest = trip;
        ahead_ = there - (before + trip / 2); // rank 0 read its clock halfway
    }
}

void CommonClock::set(const std::function<void()>& alive) {
    // With many contexts over slow links, one after the other would take minutes.
    const eco::Rank together = world_.size() > kMany ? kTogether : 1;
    for (eco::Rank turn = 1; turn < world_.size(); turn += together) {
        if (world_.rank() >= turn && world_.rank() < turn + together) ask();
        world_.barrier();
        alive();
    }
    set_at_ = now();
    world_.broadcast(set_at_); // so that all find the difference old at the same time
}

void CommonClock::keep(const std::function<void()>& alive) {
    std::int64_t present = now();
    world_.broadcast(present);
    if (set_at_ == 0 || present - set_at_ > kDrifted) set(alive);
}

void CommonClock::wait_until(std::int64_t then) const {
    constexpr std::int64_t kWakesLate = 2 * kMillisecond; // run_for() sleeps in milliseconds
    constexpr std::int64_t kNap = 100 * kMicrosecond;     // leaves the core to other waiting contexts
    if (const std::int64_t left = then - now(); left > 2 * kWakesLate)
        here_.run_for(std::chrono::nanoseconds(left - kWakesLate));
    while (then - now() > 3 * kNap) {
        here_.progress();
        std::this_thread::sleep_for(std::chrono::nanoseconds(kNap));
    }
    while (now() < then) here_.progress();
}

} // namespace plexus::tools::benchmark
