// SPDX-License-Identifier: BSD-3-Clause
// The near end of a ping-pong of one-way requests. It runs by itself once it is served:
// the handler of each answer sends the next, or, where messages are large, asks play() to.
// No clock is read on the way unless samples were asked for.
#pragma once

#include "tools/benchmark/initiator.h"
#include "tools/benchmark/report.h"

#include <string>
#include <vector>

namespace plexus::tools::bench {

class Player {
  public:
    /// Plays with the far end's echo number `at`, both ways by `methods` (empty: as
    /// selection finds). One Player for an echo.
    Player(NearEnd& end, std::size_t at, const std::string& methods);
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    /// The handlers of all players of a context; before the first of them.
    static void install(Context& here);

    /// `by_loop`: whoever serves calls play() until the end.
    void size(std::uint64_t bytes, bool by_loop = false);
    std::string method() const { return far_.method(); }

    static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
    /// Starts so many round trips; kEndless: until stop().
    void serve(std::uint64_t trips);
    /// The same; every trip's time of one way, in microseconds, is appended to `samples`.
    void serve(std::uint64_t trips, std::vector<float>& samples);
    /// Makes progress until the last trip is over.
    void play(NearEnd& end);
    /// So many round trips from beginning to end. Gives seconds.
    double play(NearEnd& end, std::uint64_t trips);
    /// The trip under way becomes the last. @thread any
    void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }
    /// No trip is under way. @thread any
    bool resting() const noexcept { return left_.load(std::memory_order_acquire) == 0; }

    /// Of this service, so far. @thread any
    std::uint64_t trips() const noexcept { return trips_.load(std::memory_order_relaxed); }

  private:
    void hit();
    void returned();

    GlobalPointer<Echo> far_;
    Bound<Player> bound_;
    std::vector<std::byte> payload_;
    bool by_loop_ = false;
    std::atomic<bool> due_{false}; // goes with nothing else: the loop sends what it sent before
    // Written by handlers, one at a time. The end of left_ [release] makes the others
    // readable to whoever saw resting().
    std::atomic<std::uint64_t> left_{0};
    std::atomic<bool> stopping_{false};
    std::atomic<std::uint64_t> trips_{0}; // a number that goes with nothing else
    std::vector<float>* samples_ = nullptr;
    Clock::time_point last_;
};

/// Of an even number the mean of the two in the middle; nothing without values.
std::optional<double> median(std::vector<double> values);

/// The value below which `share` of the samples lie; nothing without samples.
std::optional<double> percentile(std::vector<float>& samples, double share);

/// Latency for each size; no percentiles in haste.
std::vector<Row> measure_latency(NearEnd& end, const std::vector<std::uint64_t>& sizes);

} // namespace plexus::tools::bench
