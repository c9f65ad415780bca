// SPDX-License-Identifier: BSD-3-Clause
// Single messages of a probe, and rows of them: how long the sender is busy, when the answer is there, how
// long taking it in lasts. The ping-pong of tools/benchmark/ measures whole trips only. Main thread only,
// except where a line says otherwise.
#pragma once

#include "tools/benchmark/participant.h"
#include "tools/probe/requests.h"

#include <atomic>
#include <vector>

namespace plexus::tools::probe {

/// The side that answers; one for each caller.
struct Answerer {
    GlobalPointer<Caller> back{};
    std::vector<std::byte> own{}; ///< what answers are made of
};

class Caller {
  public:
    Caller(benchmark::Participant& end, std::uint64_t first_stamp);
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    GlobalPointer<Caller> pointer() const { return bound_.pointer(); }
    std::string method() const { return far_.method(); }
    /// Sends to this answerer, which knows the caller, from now on, and counts from 0.
    void face(GlobalPointer<Answerer> far);

    /// What one message took, in seconds.
    struct Times {
        double send_s = 0; ///< of the call that sends it
        double trip_s = 0; ///< until the answer is there
    };
    /// One message, and an answer of so many bytes. @error as Participant::until()
    Times trip(std::uint64_t bytes, std::uint64_t answer_bytes);
    /// So many messages in a row, and an empty answer to the last. Returns seconds. @error as trip()
    double row(std::uint64_t bytes, std::uint64_t messages);
    /// An empty message; makes no progress for `absent_s`, and returns the seconds until the answer that came
    /// meanwhile is taken in. @error as trip()
    double take_in(std::uint64_t answer_bytes, double absent_s);

    /// The answer to this message came. Handlers only.
    void note(std::uint64_t stamp) noexcept { answered_.store(stamp, std::memory_order_relaxed); }

    /// Since face(), both ways.
    std::uint64_t messages() const noexcept { return messages_; }
    std::uint64_t bytes() const noexcept { return bytes_; }

  private:
    void send(std::uint64_t answer_bytes);
    void await_answer();
    void size(std::uint64_t bytes);

    benchmark::Participant& end_;
    GlobalPointer<Answerer> far_;
    std::vector<std::byte> payload_;
    std::uint64_t stamp_; // of the message that is answered
    std::uint64_t messages_ = 0;
    std::uint64_t bytes_ = 0;
    std::atomic<std::uint64_t> answered_{0}; // a stamp that goes with nothing else
    Bound<Caller> bound_;                    // ends first: no handler runs after that
};

/// The handlers of callers and answerers of a context.
void install_callers(Context& here);

} // namespace plexus::tools::probe
