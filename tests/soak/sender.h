// SPDX-License-Identifier: BSD-3-Clause
// One thread of a member: sends to whichever life of one rank there is, by one pointer, without a pause,
// and keeps the account of it.
#pragma once

#include "soak/exchange.h"

#include <atomic>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <thread>

namespace plexus::soak {

/// What a sender did, beside its accounts.
struct Deeds {
    std::uint64_t calls = 0;
    std::uint64_t answers = 0;
    std::uint64_t puts = 0;
    std::uint64_t gets = 0;
    std::uint64_t moves = 0;
    std::uint64_t errors = 0;  ///< that were told
    std::uint64_t hung = 0;    ///< waits that did not end
    std::uint64_t damaged = 0; ///< bytes that are not what they were
};

class Sender {
  public:
    Sender(Life self, std::uint64_t seed, std::vector<std::string> methods);
    ~Sender();
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    /// From now on that life. @thread any
    void aim(Life life, GlobalPointer<Desk> desk);
    /// Ends what it has begun; what is under way ends as well, or counts as hung.
    void stop();

    // After stop().
    const std::map<Life, Sent>& accounts() const noexcept { return accounts_; }
    const std::map<Life, ContextId>& contexts() const noexcept { return contexts_; }
    const Deeds& deeds() const noexcept { return deeds_; }

  private:
    struct Call {
        Life life;
        std::uint64_t number;
        std::uint64_t size;
        Future<Load> answer;
    };
    void run();
    void take_aim();
    void act();
    void send_one();
    void call_one();
    void transfer();
    void move();
    void flush();
    void end_calls(std::size_t most);
    void trouble(Life life, std::optional<std::uint64_t> number);
    std::size_t some_size();
    template <class R>
    bool ends(const Future<R>& future);

    const Life self_;
    const std::vector<std::string> methods_;
    std::mt19937_64 random_;
    std::map<Life, Sent> accounts_;
    std::map<Life, ContextId> contexts_;
    Deeds deeds_;
    std::deque<Call> calls_;

    Life life_ = 0;
    GlobalPointer<Desk> desk_;
    GlobalSpan<std::uint64_t> memory_;

    std::mutex mutex_; // of the next two
    Life next_life_ = 0;
    GlobalPointer<Desk> next_desk_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace plexus::soak
