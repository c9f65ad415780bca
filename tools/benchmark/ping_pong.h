// SPDX-License-Identifier: BSD-3-Clause
// The side of a ping-pong that initiates. After serve() the ping-pong runs by itself: the handler of each
// answer sends the next ping, or asks play() to send a large one. No clock is read meanwhile unless samples
// were asked for.
#pragma once

#include "tools/benchmark/buffers.h"
#include "tools/benchmark/participant.h"
#include "tools/benchmark/timing.h"

#include <string>
#include <vector>

namespace plexus::tools::benchmark {

inline constexpr std::size_t kStampBytes = sizeof(std::uint64_t); ///< of a game's number in a message

class Player {
  public:
    /// The first game has the number `first_game` + 1. Messages are sent from so many buffers in turn.
    explicit Player(Context& here, std::uint64_t first_game = 0, std::uint32_t buffers = 1);
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    /// The handlers of all players of a context.
    static void install(Context& here);

    GlobalPointer<Player> pointer() const { return bound_.pointer(); }
    /// Plays with this echo, which knows the player already.
    void face(GlobalPointer<Echo> far) { far_ = std::move(far); }
    /// Plays with this echo, in both directions by `methods` (empty: as selection finds).
    void meet(GlobalPointer<Echo> far, const std::string& methods);

    /// Bytes of a message. `by_loop`: play() sends; a handler sends otherwise.
    void size(std::uint64_t bytes, bool by_loop = false);
    std::string method() const { return far_.method(); }

    static constexpr std::uint64_t kEndless = ~std::uint64_t{0};
    /// Starts so many round trips; kEndless: until stop().
    void serve(std::uint64_t trips);
    /// The same; the time of each trip, one way in microseconds, is appended to `samples`.
    void serve(std::uint64_t trips, std::vector<float>& samples);
    /// Makes progress until the last trip is over. @error as Participant::until()
    void play(Participant& end);
    /// So many round trips from beginning to end. Returns seconds. @error as Participant::until()
    double play(Participant& end, std::uint64_t trips);
    /// The trip under way becomes the last. @thread any
    void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }
    /// No trip is under way. @thread any
    bool resting() const noexcept { return left_.load(std::memory_order_acquire) == 0; }

    /// Trips since serve(). @thread any
    std::uint64_t trips() const noexcept { return trips_.load(std::memory_order_relaxed); }

  private:
    void begin(std::uint64_t trips, std::vector<float>* samples);
    void hit();
    void returned(std::uint64_t stamp);
    void returned(Bytes bytes);

    GlobalPointer<Echo> far_;
    Buffers payload_;
    bool by_loop_ = false;
    std::atomic<bool> due_{false}; // alone: the loop sends what it sent before
    // Handlers write these, one at a time. The end of left_ [release] makes the others readable for a thread
    // that saw resting().
    std::atomic<std::uint64_t> left_{0};
    std::atomic<std::uint64_t> stamp_; // of the game under way; changes only between games
    std::atomic<bool> stopping_{false};
    std::atomic<std::uint64_t> trips_{0}; // a number that goes with nothing else
    std::vector<float>* samples_ = nullptr;
    Clock::time_point last_;
    Bound<Player> bound_; // ends first: no handler runs after that
};

} // namespace plexus::tools::benchmark
