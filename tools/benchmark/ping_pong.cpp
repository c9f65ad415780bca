// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/ping_pong.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace plexus::tools::benchmark {

Player::Player(Context& here, std::uint64_t first_game, std::uint32_t buffers)
  : payload_(buffers)
  , stamp_(first_game)
  , bound_(here.bind(*this)) {}

void Player::install(Context& here) {
    here.on(pong_word, [](Player& player, std::uint64_t word) { player.returned(word); });
    here.on(pong_bytes, [](Player& player, Bytes bytes) { player.returned(bytes); });
    here.on(pong_large, [](Player& player, Bytes bytes) { player.returned(bytes); });
}

void Player::meet(GlobalPointer<Echo> far, const std::string& methods) {
    face(std::move(far));
    if (!methods.empty()) far_.use(methods);
    far_.call(play_with, pointer(), methods).get();
}

void Player::size(std::uint64_t bytes, bool by_loop) {
    payload_.assign(bytes, std::byte{1});
    by_loop_ = by_loop;
}

void Player::play(Participant& end) {
    while (!resting()) {
        end.until([&] { return resting() || due_.load(std::memory_order_relaxed); });
        if (due_.exchange(false, std::memory_order_relaxed)) hit();
    }
}

double Player::play(Participant& end, std::uint64_t trips) {
    const auto start = Clock::now();
    serve(trips);
    play(end);
    return seconds_since(start);
}

void Player::serve(std::uint64_t trips) { begin(trips, nullptr); }

void Player::serve(std::uint64_t trips, std::vector<float>& samples) { begin(trips, &samples); }

void Player::begin(std::uint64_t trips, std::vector<float>* samples) {
    const std::uint64_t stamp = stamp_.fetch_add(1, std::memory_order_relaxed) + 1;
    payload_.stamp(std::as_bytes(std::span(&stamp, 1)));
    stopping_.store(false, std::memory_order_relaxed);
    due_.store(false, std::memory_order_relaxed);
    trips_.store(0, std::memory_order_relaxed);
    samples_ = samples;
    left_.store(trips, std::memory_order_relaxed); // the request that follows carries it over
    if (samples != nullptr) last_ = Clock::now();
    hit();
}

void Player::hit() {
    if (payload_.bytes() == kStampBytes) {
        far_.send(ping_word, stamp_.load(std::memory_order_relaxed));
    } else if (by_loop_) {
        far_.send(ping_large, Bytes(payload_.next()));
    } else {
        far_.send(ping_bytes, Bytes(payload_.next()));
    }
}

void Player::returned(Bytes bytes) {
    std::uint64_t stamp = stamp_.load(std::memory_order_relaxed); // a short message carries a part of it
    if (!bytes.empty()) std::memcpy(&stamp, bytes.data(), std::min(bytes.size(), kStampBytes));
    returned(stamp);
}

void Player::returned(std::uint64_t stamp) {
    const std::uint64_t left = left_.load(std::memory_order_relaxed);
    if (left == 0 || stamp != stamp_.load(std::memory_order_relaxed)) return; // of a game that was abandoned
    trips_.store(trips() + 1, std::memory_order_relaxed);                     // handlers run one at a time
    if (samples_ != nullptr) {
        const auto now = Clock::now();
        samples_->push_back(static_cast<float>(seconds(now - last_) * 1e6 / 2));
        last_ = now;
    }
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

} // namespace plexus::tools::benchmark
