// SPDX-License-Identifier: BSD-3-Clause
// One context that takes part in a measurement: waits that end when something has failed, and answers to the
// ping-pongs of others. Main thread only, except where a line says otherwise.
#pragma once

#include "runtime/base/lock.h"
#include "tools/benchmark/buffers.h"
#include "tools/benchmark/requests.h"

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace plexus::tools::benchmark {

/// The side of a ping-pong that answers.
struct Echo {
    explicit Echo(std::uint32_t buffers)
      : own(buffers) {}

    GlobalPointer<Player> back{};
    Buffers own;                   ///< answers to large messages are sent from
    std::span<std::byte> answer{}; ///< of `own`: to the last large message
    std::atomic<bool> due{false};  ///< [set] by the handler after `answer`; the loop answers
};

class Participant {
  public:
    /// Installs the handlers of ping-pongs. Large messages are answered from so many buffers in turn.
    explicit Participant(Context& here, std::uint32_t buffers = 1);
    ~Participant();
    Participant(const Participant&) = delete;
    Participant& operator=(const Participant&) = delete;

    Context& here() const noexcept { return here_; }

    /// Pings to the returned pointer are answered from now on, large ones while a thread is in until() or
    /// serve().
    GlobalPointer<Echo> add_echo();
    /// Sets whom the first echo answers. Handlers only.
    void answer(GlobalPointer<Player> player) { echoes_.front().back = std::move(player); }

    /// Makes progress until `done()`. @error message_lost what could not be delivered, or fail() was called
    /// (thrown)
    void until(const std::function<bool()>& done);
    /// The same; failures do not end the wait.
    void serve(const std::function<bool()>& done);
    /// Makes progress for so long. @error as until()
    void run_for(double seconds);

    /// What the context reports to on_error ends until() from now on.
    void watch_errors();
    /// Ends until() with this reason, unless there is one already. @thread any
    void fail(const std::string& why) PLEXUS_EXCLUDES(mutex_);
    /// A new measurement: no failure is known.
    void forget_failure() PLEXUS_EXCLUDES(mutex_);

  private:
    bool has_failed() const noexcept { return failed_.load(std::memory_order_acquire); }
    bool has_due() const noexcept;
    void answer_due();
    void check() PLEXUS_EXCLUDES(mutex_);

    Context& here_;
    const std::uint32_t buffers_;
    bool watches_errors_ = false;
    std::deque<Echo> echoes_;
    Mutex mutex_;
    std::string failure_ PLEXUS_GUARDED_BY(mutex_);
    std::atomic<bool> failed_{false}; // [fail] set after failure_, pairs with has_failed()
    std::deque<Bound<Echo>> bound_;   // ends first: no handler runs after that
};

} // namespace plexus::tools::benchmark
