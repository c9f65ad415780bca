// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/dual.h"

#include "tools/benchmark/statistics.h"
#include "tools/common/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace plexus::tools::benchmark {

namespace {

constexpr double kNoise = 0.05;
constexpr std::uint32_t kRounds = 5;
constexpr std::size_t kSlowSamples = 1 << 16;
constexpr double kTakeSeconds = 0.1; ///< long enough for several trips of the slow method

/// The results of one case, round by round.
struct Case {
    Row row;
    std::vector<double> fast;
    std::vector<double> slow;
    std::vector<double> trips; ///< of the fast method
    std::vector<float> fast_samples;
    std::vector<float> slow_samples;
};

class Dual {
  public:
    Dual(Initiator& end, std::string fast, std::string slow)
      : end_(end)
      , fast_name_(std::move(fast))
      , slow_name_(std::move(slow))
      , fast_(end.here())
      , slow_(end.here()) {
        end.meet(fast_, 0, fast_name_);
        end.meet(slow_, 1, slow_name_);
    }

    std::vector<Row> run(std::uint64_t size) {
        fast_.size(size);
        slow_.size(size);
        std::vector<Case> cases = cases_of(size);
        end_.progress().show(fmt::format("dual, {}: warming up", show_size(size)));
        slow_.serve(10); // opens the connection
        until([&] { return slow_.resting(); });
        fast_.play(end_.end(), 1000);
        for (std::uint32_t round = 0; round < kRounds; ++round) {
            for (Case& each : cases) {
                end_.progress().show(fmt::format("dual, {}: round {} of {}, skip_poll {}", show_size(size),
                                                 round + 1, kRounds, show(each.row.skip_poll)));
                take(each);
            }
        }
        end_.confine(slow_name_, false);
        end_.skip_poll(slow_name_, std::nullopt);

        std::vector<Row> rows;
        for (Case& each : cases) rows.push_back(finish(each));
        return rows;
    }

  private:
    std::vector<Case> cases_of(std::uint64_t size) const {
        std::vector<Case> cases;
        const auto add = [&](const char* name, SkipPoll skip_poll) {
            Row& row = cases.emplace_back().row;
            row.kind = Kind::dual;
            row.used = fast_name_;
            row.slow = slow_name_;
            row.size_bytes = size;
            row.dual_case = name;
            row.skip_poll = skip_poll;
        };
        add("alone", {});
        add("silent", {});
        for (const SkipPoll skip_poll : end_.options().skip_polls) add("both", skip_poll);
        return cases;
    }

    void until(const std::function<bool()>& done) { end_.end().until(done); }

    /// One round of one case. The mean of the fast method is taken without reading clocks on the way; then a
    /// tenth as many trips are timed one by one.
    void take(Case& each) {
        end_.confine(slow_name_, !each.row.has_skip_poll());
        if (each.row.has_skip_poll()) end_.skip_poll(slow_name_, each.row.skip_poll);
        const bool both = each.row.dual_case == "both";
        std::vector<float> slow_samples;
        slow_samples.reserve(kSlowSamples);
        if (both) slow_.serve(Player::kEndless, slow_samples);
        std::uint64_t before = 0;
        const std::uint64_t trips =
            end_.options().iterations != 0 ? play_number(each, before) : play_time(each, before);
        each.trips.push_back(static_cast<double>(trips));
        fast_.serve(trips / 10 + 1, each.fast_samples);
        until([&] { return fast_.resting(); });
        if (!both) return;
        slow_.stop();
        until([&] { return slow_.resting(); });
        keep_slow(each, slow_samples, before);
    }

    /// As many trips of the fast method as the options say (Nexus, section 3.3). Returns their number;
    /// `slow_before` is the number of trips of the slow method before them.
    std::uint64_t play_number(Case& each, std::uint64_t& slow_before) {
        const std::uint64_t trips = end_.options().iterations;
        fast_.play(end_.end(), trips / 10 + 1); // `auto` finds its value, caches fill
        slow_before = slow_.trips();
        each.fast.push_back(fast_.play(end_.end(), trips) / static_cast<double>(trips) / 2 * 1e6);
        return trips;
    }

    /// The same for a fixed time: with a small skip_poll the fast method may take a hundred times as long as
    /// alone, with a large skip_poll the slow method needs time for enough trips.
    std::uint64_t play_time(Case& each, std::uint64_t& slow_before) {
        fast_.serve(Player::kEndless);
        end_.end().run_for(kTakeSeconds / 5);
        slow_before = slow_.trips();
        const std::uint64_t fast_before = fast_.trips();
        const auto start = Clock::now();
        end_.end().run_for(kTakeSeconds);
        const double taken = seconds_since(start);
        const std::uint64_t trips = fast_.trips() - fast_before;
        if (trips > 0) each.fast.push_back(taken / static_cast<double>(trips) / 2 * 1e6);
        fast_.stop();
        until([&] { return fast_.resting(); });
        return trips;
    }

    /// The first and the last trip of the slow method overlap the edges of the timed part: left out if there
    /// are other trips.
    static void keep_slow(Case& each, const std::vector<float>& samples, std::uint64_t before) {
        const auto first = samples.begin() + static_cast<std::ptrdiff_t>(before);
        const auto last = samples.end() - first > 2 ? samples.end() - 1 : samples.end();
        if (first == last) return;
        each.slow.push_back(std::accumulate(first, last, 0.0) / static_cast<double>(last - first));
        each.slow_samples.insert(each.slow_samples.end(), first, last);
    }

    Row finish(Case& each) {
        Row& row = each.row;
        row.iterations = static_cast<std::uint64_t>(median(each.trips).value_or(0));
        row.one_way = OneWay{median(each.fast), percentile(each.fast_samples, 0.5),
                             percentile(each.fast_samples, 0.99)};
        if (!each.slow.empty())
            row.slow_one_way = OneWay{median(each.slow), percentile(each.slow_samples, 0.5),
                                      percentile(each.slow_samples, 0.99)};
        row.messages_per_s = 1e6 / row.one_way->mean.value_or(0);
        row.bytes_per_s = row.messages_per_s * static_cast<double>(row.size_bytes);
        return row;
    }

    Initiator& end_;
    std::string fast_name_;
    std::string slow_name_;
    Player fast_;
    Player slow_;
};

std::string percent(double ratio) { return fmt::format("{:+.1f} %", (ratio - 1) * 100); }

double mean_of(const std::optional<OneWay>& time) { return time ? time->mean.value_or(0) : 0; }

/// On the rows of one size.
std::string judge_size(const std::vector<Row>& rows) {
    std::string text;
    const auto find = [&](const char* name, bool automatic) -> const Row* {
        const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
            return row.dual_case == name && (!automatic || !row.skip_poll);
        });
        return at == rows.end() ? nullptr : &*at;
    };
    const Row* const alone = find("alone", false);
    const Row* const silent = find("silent", false);
    if (alone != nullptr && silent != nullptr)
        text += fmt::format("{}: with {} polled and silent, {} takes {} of its time alone.\n",
                            show_size(alone->size_bytes), alone->slow, alone->used,
                            percent(mean_of(silent->one_way) / mean_of(alone->one_way)));
    if (const Row* const automatic = find("both", true); automatic != nullptr && rows.size() > 3) {
        const std::vector<const Row*> better = better_than(*automatic, rows);
        std::string values;
        for (const Row* row : better) values += (values.empty() ? "" : ", ") + show(row->skip_poll);
        text += fmt::format("{}: auto {}.\n", show_size(automatic->size_bytes),
                            better.empty()
                                ? "lies on the front: no fixed skip_poll is better in both by more than 5 %"
                                : "is beaten in both latencies by more than 5 % by skip_poll " + values);
    }
    return text;
}

} // namespace

std::vector<const Row*> better_than(const Row& automatic, const std::vector<Row>& rows) {
    std::vector<const Row*> better;
    for (const Row& row : rows)
        if (row.dual_case == "both" && row.skip_poll && row.size_bytes == automatic.size_bytes &&
            row.slow_one_way && automatic.slow_one_way &&
            mean_of(row.one_way) < (1 - kNoise) * mean_of(automatic.one_way) &&
            mean_of(row.slow_one_way) < (1 - kNoise) * mean_of(automatic.slow_one_way))
            better.push_back(&row);
    return better;
}

std::string judge_dual(const std::vector<Row>& rows) {
    std::string text;
    for (auto first = rows.begin(); first != rows.end();) {
        const auto last = std::find_if(first, rows.end(),
                                       [&](const Row& row) { return row.size_bytes != first->size_bytes; });
        text += judge_size({first, last});
        first = last;
    }
    return text;
}

std::vector<Row> measure_dual(Initiator& end) {
    const std::vector<std::string> methods = split_list(end.options().methods);
    if (methods.size() < 2)
        throw Error(Status::bad_config,
                    "dual needs two methods: write --methods \"shm, tcp\", the fast one first");
    // The configuration sets the methods' parameters: only the names are used here.
    Dual dual(end, name_in(methods.front()), name_in(methods.back()));
    std::vector<Row> rows;
    for (const std::uint64_t size : end.options().sizes)
        for (Row& row : dual.run(size)) rows.push_back(std::move(row));
    return rows;
}

} // namespace plexus::tools::benchmark
