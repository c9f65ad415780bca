// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/initiator.h"

#include "tools/benchmark/statistics.h"
#include "tools/common/quantity.h"

#include <fmt/format.h>

namespace plexus::tools::benchmark {

Initiator::Initiator(Context& here, const PairOptions& options)
  : end_(here)
  , options_(options) {
    end_.watch_errors();
    progress_.show("waiting for the other end");
    far_ = here.lookup<Control>(kControlName).get();
}

Initiator::~Initiator() {
    progress_.clear();
    try {
        far_.call(finish).get();
    } catch (const Error&) {
        // The responder is gone: the measurement has said why, and the launcher ends the job.
    }
}

void Initiator::meet(Player& player, std::size_t at, const std::string& methods) {
    player.meet(here().lookup<Echo>(echo_name(at)).get(), methods);
}

Best Initiator::best_of(const std::string& what, std::uint64_t fewest,
                        const std::function<double(std::uint64_t)>& run) {
    const Effort effort{options_.iterations, options_.round_seconds(), fewest};
    return benchmark::best_of(effort, run, [&](std::uint32_t round) {
        progress_.show(round == 0 ? what + ": warming up"
                                  : fmt::format("{}: round {} of {}", what, round, effort.rounds));
    });
}

void Initiator::skip_poll(const std::string& method, SkipPoll turns) {
    here().skip_poll(method, turns);
    far_.call(set_skip_poll, method, turns.value_or(0)).get();
}

void Initiator::confine(const std::string& method, bool confined) {
    here().confine(method, confined);
    far_.call(set_confined, method, confined).get();
}

SkipPoll Initiator::skip_poll_of(const std::string& method) const {
    for (const LaneReport& lane : end_.here().lanes())
        if (means_row(lane.method, method) && !lane.automatic) return lane.skip_poll;
    return {};
}

std::vector<Row> measure_latency(Initiator& end, const std::vector<std::uint64_t>& sizes) {
    const bool in_haste = end.options().in_haste();
    const std::uint64_t most_samples = in_haste ? 0 : 100'000;
    Player player(end.here(), 0, end.options().buffers);
    end.meet(player, 0, {});
    std::vector<Row> rows;
    for (const std::uint64_t size : sizes) {
        player.size(size, size >= kLarge);
        const Best best = end.best_of(fmt::format("latency, {}", show_size(size)), in_haste ? 10 : 100,
                                      [&](std::uint64_t trips) { return player.play(end.end(), trips); });
        std::vector<float> samples;
        if (const std::uint64_t sampled = std::min(best.iterations, most_samples); sampled > 0) {
            samples.reserve(sampled);
            player.serve(sampled, samples);
            player.play(end.end());
        }

        const double one_way = best.each() / 2;
        Row& row = rows.emplace_back();
        row.kind = Kind::latency;
        row.used = player.method();
        row.size_bytes = size;
        row.iterations = best.iterations;
        row.buffers = end.options().buffers;
        row.one_way = OneWay{one_way * 1e6, percentile(samples, 0.5), percentile(samples, 0.99)};
        row.bytes_per_s = static_cast<double>(size) / one_way;
        row.messages_per_s = 1 / one_way;
        row.skip_poll = end.skip_poll_of(row.used);
    }
    return rows;
}

} // namespace plexus::tools::benchmark
