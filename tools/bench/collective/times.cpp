// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/collective/times.h"

#include "tools/benchmark/statistics.h"

#include "plexus/eco/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plexus::tools::benchmark {
namespace {

constexpr std::uint64_t kFewest = 5;
constexpr std::uint64_t kMost = 5000;
constexpr std::int64_t kSecond = 1'000'000'000;

/// When a member began and ended, by the common clock.
struct Mark {
    std::int64_t began = 0;
    std::int64_t ended = 0;
    std::uint32_t looks_on = 1; ///< is in the job, but not in the group
    std::uint32_t late = 0;     ///< learned of the start after the start
};

Completion completion_of(const std::vector<double>& us) {
    Completion out;
    out.iterations = us.size();
    out.min = *std::min_element(us.begin(), us.end());
    out.p50 = *median(us);
    out.mean = std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size());
    return out;
}

/// The start is announced some time ahead, so that all members are ready and the announcement's own
/// messages have arrived. A late member makes this time longer.
class Starts {
  public:
    explicit Starts(const Measurement& measurement)
      : of_(measurement)
      , marks_(first() ? measurement.world.size() : 0) {
        std::int64_t longest = 0;
        for (int at = 0; at < 3; ++at) {
            const std::int64_t before = of_.clock.now();
            std::int64_t then = before;
            of_.world.broadcast(then);
            gather({});
            longest = std::max(longest, of_.clock.now() - before);
            if (first()) of_.alive();
        }
        ahead_ = longest + 200'000;
    }

    /// One call; at rank 0: its time in nanoseconds, nothing if somebody was late.
    std::optional<std::int64_t> run() {
        std::int64_t start = of_.clock.now() + ahead_;
        of_.world.broadcast(start);
        Mark mine;
        if (of_.call != nullptr) {
            mine.looks_on = 0;
            mine.late = of_.clock.now() > start ? 1 : 0;
            if (of_.waits) of_.clock.wait_until(start);
            mine.began = of_.clock.now();
            of_.call->run();
            mine.ended = of_.clock.now();
        }
        gather(mine);
        if (!first()) return std::nullopt;
        of_.alive();
        return judge(start);
    }

    bool first() const { return of_.world.rank() == 0; }
    double ahead_seconds() const { return static_cast<double>(ahead_) / kSecond; }

  private:
    void gather(const Mark& mine) { of_.world.gather(std::span(&mine, 1), std::span(marks_), 0); }

    std::optional<std::int64_t> judge(std::int64_t start) {
        std::int64_t ended = 0;
        bool late = false;
        for (const Mark& mark : marks_) {
            if (mark.looks_on != 0) continue;
            ended = std::max(ended, mark.ended);
            late = late || mark.late != 0;
        }
        if (!late) return ended - start;
        ahead_ = std::min(2 * ahead_, 5 * kSecond);
        return std::nullopt;
    }

    const Measurement& of_;
    std::vector<Mark> marks_;
    std::int64_t ahead_ = 0;
};

/// The user's number, or as many as take the usual time, the same on all.
std::uint64_t iterations_for(const Measurement& of, double seconds_each) {
    std::uint64_t count = of.iterations;
    if (count == 0)
        count =
            std::clamp(static_cast<std::uint64_t>(CollectiveOptions::kSeconds / std::max(seconds_each, 1e-9)),
                       kFewest, kMost);
    of.world.broadcast(count);
    return count;
}

Completion by_common_clock(const Measurement& of) {
    of.clock.keep([&] {
        if (of.world.rank() == 0) of.alive();
    });
    Starts starts(of);
    const std::int64_t before = of.clock.now();
    starts.run();
    const double once = static_cast<double>(of.clock.now() - before) / kSecond;
    const std::uint64_t count = iterations_for(of, once);
    std::vector<double> us;
    std::uint64_t tries = 0;
    for (std::uint8_t more = 1; more != 0;) {
        if (const auto taken = starts.run()) us.push_back(static_cast<double>(*taken) / 1e3);
        more = us.size() < count && ++tries < 4 * count;
        of.world.broadcast(more);
    }
    if (!starts.first()) return {};
    if (us.empty())
        throw Error(Status::timed_out, "the members could not be brought to a common start: this machine is "
                                       "too busy, or use --clock own");
    return completion_of(us);
}

/// Each call alone, in microseconds.
std::vector<double> durations(const Measurement& of, std::uint64_t count) {
    std::vector<double> us(count, 0);
    if (of.call == nullptr) return us;
    std::int64_t said = of.clock.now();
    for (double& each : us) {
        if (of.world.rank() == 0 && of.clock.now() - said > kSecond) {
            of.alive();
            said = of.clock.now();
        }
        of.group.with(eco::Algorithm()).barrier(); // not every pattern has one
        const std::int64_t before = of.clock.now();
        of.call->run();
        each = static_cast<double>(of.clock.now() - before) / 1e3;
    }
    return us;
}

Completion by_own_clocks(const Measurement& of) {
    constexpr std::uint64_t kFew = 3;
    const std::int64_t before = of.clock.now();
    durations(of, kFew);
    double once = static_cast<double>(of.clock.now() - before) / kSecond / kFew; // with its barrier
    once = of.world.all_reduce(once, eco::Max{});
    std::vector<double> us;
    // In parts, so that rank 0 can report progress.
    for (std::uint64_t left = iterations_for(of, once); left > 0;) {
        const std::uint64_t part = std::min<std::uint64_t>(
            left, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(1 / std::max(once, 1e-6))));
        std::vector<double> longest = durations(of, part);
        of.world.all_reduce(std::span(longest), eco::Max{});
        us.insert(us.end(), longest.begin(), longest.end());
        left -= part;
        of.alive();
    }
    return completion_of(us);
}

} // namespace

Completion time_by(TimedBy by, const Measurement& measurement) {
    return by == TimedBy::common ? by_common_clock(measurement) : by_own_clocks(measurement);
}

} // namespace plexus::tools::benchmark
