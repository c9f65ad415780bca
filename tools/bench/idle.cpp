// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/idle.h"

#include "tools/benchmark/statistics.h"
#include "tools/common/quantity.h"

#include <fmt/format.h>
#include <utility>

namespace plexus::tools::benchmark {

namespace {

constexpr double kSecondsOfTake = 0.005;
constexpr std::size_t kTakes = 200; ///< of each case
constexpr std::size_t kInHand =
    4; ///< takes of one case in a row: each switch between the cases costs requests

/// The names of the lanes except `fast`.
std::vector<std::string> others_than(const std::string& fast, const Context& here) {
    std::vector<std::string> others;
    for (const LaneReport& lane : here.lanes())
        if (lane.method != fast) others.push_back(lane.method);
    return others;
}

Row row_of(const char* name, const Player& player, const std::vector<std::string>& others) {
    Row row;
    row.kind = Kind::idle;
    row.used = player.method();
    row.slow = fmt::format("{}", fmt::join(others, ", "));
    row.dual_case = name;
    return row;
}

void fill(Row& row, std::uint64_t size, std::uint64_t trips, const std::vector<double>& means) {
    row.size_bytes = size;
    row.iterations = trips;
    row.one_way = OneWay{median(means), {}, {}};
    row.messages_per_s = 1e6 / row.one_way->mean.value_or(0);
    row.bytes_per_s = row.messages_per_s * static_cast<double>(size);
}

} // namespace

std::vector<Row> measure_idle(Initiator& end) {
    const std::vector<std::string> methods = split_list(end.options().methods);
    Player player(end.here());
    end.meet(player, 0, methods.empty() ? std::string() : name_in(methods.front()));
    const auto play = [&](std::uint64_t trips) { return player.play(end.end(), trips); };
    std::vector<Row> rows;
    for (const std::uint64_t size : end.options().sizes) {
        player.size(size, size >= kLarge);
        play(100);
        const std::vector<std::string> others = others_than(player.method(), end.here());
        if (others.empty())
            throw Error(Status::bad_config,
                        "idle needs a method that idles: load another beside " + player.method());
        const std::uint64_t trips =
            end.options().iterations != 0
                ? end.options().iterations
                : std::max<std::uint64_t>(10, static_cast<std::uint64_t>(kSecondsOfTake / play(1000) * 1000));

        std::vector<double> alone;
        std::vector<double> silent;
        std::vector<double> ratios;
        for (std::size_t take = 0; take < kTakes / kInHand; ++take) {
            end.progress().show(
                fmt::format("idle, {}: {} of {}", show_size(size), take + 1, kTakes / kInHand));
            double both[2] = {};
            for (const bool polled : {take % 2 == 0, take % 2 != 0}) {
                for (const std::string& other : others) end.confine(other, !polled);
                play(trips); // `auto` finds its value
                std::vector<double>& means = polled ? silent : alone;
                for (std::size_t i = 0; i < kInHand; ++i) {
                    means.push_back(play(trips) / static_cast<double>(trips) / 2 * 1e6);
                    both[polled] += means.back();
                }
            }
            ratios.push_back(both[1] / both[0]);
        }
        for (const std::string& other : others) end.confine(other, false);
        fill(rows.emplace_back(row_of("alone", player, others)), size, trips, alone);
        fill(rows.emplace_back(row_of("silent", player, others)), size, trips, silent);
        rows.back().times_alone = median(ratios);
    }
    return rows;
}

std::string judge_idle(const std::vector<Row>& rows, const std::vector<LaneReport>& lanes) {
    std::string text;
    for (const Row& row : rows)
        if (row.times_alone)
            text += fmt::format("{}: with {} polled and silent, {} takes {:.3f} times its time alone.\n",
                                show_size(row.size_bytes), row.slow, row.used, *row.times_alone);
    for (const LaneReport& lane : lanes)
        if (lane.method != rows.front().used)
            text +=
                fmt::format("{}: a poll that finds nothing takes {:.0f} ns, one in {} turns of the loop.\n",
                            lane.method, lane.poll_cost_ns, lane.skip_poll);
    return text;
}

} // namespace plexus::tools::benchmark
