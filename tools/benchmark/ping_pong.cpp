// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/ping_pong.h"

#include "tools/common/quantity.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::tools::bench {

Player::Player(NearEnd& end, std::size_t at, const std::string& methods)
  : far_(end.here().lookup<Echo>(echo_name(at)).get())
  , bound_(end.here().bind(*this)) {
    if (!methods.empty()) far_.use(methods);
    far_.call(play_with, bound_.pointer(), methods).get();
}

void Player::install(Context& here) {
    here.on(pong_word, [](Player& player, std::uint64_t) { player.returned(); });
    here.on(pong_bytes, [](Player& player, Bytes) { player.returned(); });
    here.on(pong_large, [](Player& player, Bytes) { player.returned(); });
}

void Player::size(std::uint64_t bytes, bool by_loop) {
    payload_.assign(bytes, std::byte{1});
    by_loop_ = by_loop;
}

void Player::play(NearEnd& end) {
    while (!resting()) {
        end.until([&] { return resting() || due_.load(std::memory_order_relaxed); });
        if (due_.exchange(false, std::memory_order_relaxed)) hit();
    }
}

double Player::play(NearEnd& end, std::uint64_t trips) {
    const auto start = Clock::now();
    serve(trips);
    play(end);
    return seconds(Clock::now() - start);
}

void Player::serve(std::uint64_t trips) {
    stopping_.store(false, std::memory_order_relaxed);
    trips_.store(0, std::memory_order_relaxed);
    samples_ = nullptr;
    left_.store(trips, std::memory_order_relaxed); // the request that follows carries it over
    hit();
}

void Player::serve(std::uint64_t trips, std::vector<float>& samples) {
    stopping_.store(false, std::memory_order_relaxed);
    trips_.store(0, std::memory_order_relaxed);
    samples_ = &samples;
    left_.store(trips, std::memory_order_relaxed);
    last_ = Clock::now();
    hit();
}

void Player::hit() {
    if (payload_.size() == sizeof(std::uint64_t)) {
        far_.send(ping_word, trips());
    } else if (by_loop_) {
        far_.send(ping_large, payload_);
    } else {
        far_.send(ping_bytes, payload_);
    }
}

void Player::returned() {
    trips_.store(trips() + 1, std::memory_order_relaxed); // handlers run one at a time
    if (samples_ != nullptr) {
        const auto now = Clock::now();
        samples_->push_back(static_cast<float>(seconds(now - last_) * 1e6 / 2));
        last_ = now;
    }
    const std::uint64_t left = left_.load(std::memory_order_relaxed);
    if (left == 1 || stopping_.load(std::memory_order_relaxed)) {
        left_.store(0, std::memory_order_release); // pairs with resting()
        return;
    }
    left_.store(left - 1, std::memory_order_relaxed);
    if (by_loop_) {
        due_.store(true, std::memory_order_relaxed);
    } else {
        hit();
    }
}

std::optional<double> median(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<double> percentile(std::vector<float>& samples, double share) {
    if (samples.empty()) return {};
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(samples.size() - 1));
    std::nth_element(samples.begin(), samples.begin() + at, samples.end());
    return static_cast<double>(samples[static_cast<std::size_t>(at)]);
}

std::vector<Row> measure_latency(NearEnd& end, const std::vector<std::uint64_t>& sizes) {
    const bool in_haste = end.wish().in_haste();
    const std::uint64_t most_samples = in_haste ? 0 : 100'000;
    Player::install(end.here());
    Player player(end, 0, {});
    const auto play = [&](std::uint64_t trips) { return player.play(end, trips); };
    std::vector<Row> rows;
    for (const std::uint64_t size : sizes) {
        player.size(size, size >= kLarge);
        end.progress().show(fmt::format("latency, {}: warming up", show_size(size)));
        const std::uint64_t trips = warm_up(end.wish(), in_haste ? 10 : 100, play);
        double best = play(trips);
        for (std::uint32_t round = 1; round < Wish::kRounds; ++round) {
            end.progress().show(
                fmt::format("latency, {}: round {} of {}", show_size(size), round + 1, Wish::kRounds));
            best = std::min(best, play(trips));
        }
        std::vector<float> samples;
        if (const std::uint64_t sampled = std::min(trips, most_samples); sampled > 0) {
            samples.reserve(sampled);
            player.serve(sampled, samples);
            player.play(end);
        }

        const double one_way = best / static_cast<double>(trips) / 2;
        Row& row = rows.emplace_back();
        row.kind = Kind::latency;
        row.used = player.method();
        row.size_bytes = size;
        row.iterations = trips;
        row.one_way = OneWay{one_way * 1e6, percentile(samples, 0.5), percentile(samples, 0.99)};
        row.bytes_per_s = static_cast<double>(size) / one_way;
        row.messages_per_s = 1 / one_way;
        row.skip_poll = end.skip_poll_of(row.used);
    }
    return rows;
}

} // namespace plexus::tools::bench
