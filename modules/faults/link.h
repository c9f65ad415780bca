// SPDX-License-Identifier: BSD-3-Clause
// One link of the inner module with the plan's faults around it. Sends come from any thread,
// serialised by the host; the hooks run on the progress thread.
#pragma once

#include "faults/plan.h"
#include "over/link.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace plexus::faults {

class Module;

class Link final : public over::Link {
  public:
    Link(Module& owner, std::uint64_t seed);

    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token) override;

    /// Hands on the messages that have waited long enough. @thread progress
    std::int32_t release(std::chrono::steady_clock::time_point now);
    bool holding() const noexcept { return !held_.empty(); }
    std::chrono::steady_clock::time_point due() const noexcept { return held_.front().due; }
    bool waits_for_polls() const noexcept { return held_.front().polls_left > 0; }

  private:
    struct Held {
        std::chrono::steady_clock::time_point due;
        std::uint32_t polls_left;
        bool large;                       // came by `place`, goes on by `place`
        std::vector<std::uint64_t> words; // 8-byte aligned, as `deliver` promises
        std::size_t head_bytes;
        std::size_t bytes;
    };

    std::string on_connect() override;
    void on_deliver(plexus_view message) override;
    std::int32_t on_place(plexus_view head, std::size_t rest, void** where, void** token) override;
    void on_placed(void* token, std::int32_t status) override;
    void on_ending() override;
    bool on_turn() override;

    bool keeps_back() const noexcept;
    Held make_held(bool large, plexus_view head, std::size_t rest) const;
    void hold(Held held);
    void hand_on(const Held& held);

    Module& module_;
    Dice dice_;
    std::uint32_t messages_until_cut_; // under the host's lock of this link
    std::uint32_t messages_carried_;   // those of them that are not swallowed; same lock
    // When the first was swallowed, 0: none yet. Relaxed: the module's mutex orders it.
    std::atomic<std::int64_t> swallowing_since_{0};

    std::deque<Held> held_;        // progress
    std::map<void*, Held> coming_; // whose rest is being placed, by its token; progress
};

} // namespace plexus::faults
