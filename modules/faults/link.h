// SPDX-License-Identifier: BSD-3-Clause
// One link of the inner module with the plan's faults around it, and the host table that
// the inner module calls. Sends come from any thread, serialised by the host; callbacks
// come on the progress thread.
#pragma once

#include "faults/plan.h"
#include "plexus/module/module.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace plexus::faults {

class Module;

class Link {
  public:
    Link(Module& owner, std::uint64_t seed);

    // The handle is never given a type of its own: each module in a program has another.
    plexus_link* handle() { return reinterpret_cast<plexus_link*>(this); }

    // The functions of the same names in abi.h.
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why);
    std::uint32_t row() const;
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);

    /// Begins the inner link; what the inner module says.
    std::int32_t connect(plexus_view inner, const plexus_id& peer, void* cookie);
    /// Will be lost as the plan says. PLEXUS_OK.
    std::int32_t refuse(void* cookie);

    /// The table that the inner module of `module` calls; its cookies are Links.
    static plexus_host under(Module& module);

    plexus_link* inner() const noexcept { return inner_.load(); }
    bool given_up() const noexcept { return given_up_; }
    bool idle() const noexcept { return posted_ == 0; }

    /// Says what is owed: `writable`, `lost`. False: not all could be said yet. @thread progress
    bool pay(std::int32_t& handled);
    /// Hands on the messages that have waited long enough. @thread progress
    std::int32_t release(std::chrono::steady_clock::time_point now);
    bool holding() const noexcept { return !held_.empty(); }
    std::chrono::steady_clock::time_point due() const noexcept { return held_.front().due; }
    bool waits_for_polls() const noexcept { return held_.front().polls_left > 0; }

  private:
    struct Callbacks;
    struct Held {
        std::chrono::steady_clock::time_point due;
        std::uint32_t polls_left;
        bool large;                       // came by `place`, goes on by `place`
        std::vector<std::uint64_t> words; // 8-byte aligned, as `deliver` promises
        std::size_t head_bytes;
        std::size_t bytes;
    };
    struct Placement {
        void* host_token = nullptr; // null: the bytes come into `held`
        Held held;
    };

    bool keeps_back() const noexcept;
    Held make_held(bool large, plexus_view head, std::size_t rest) const;
    void hold(Held held);
    void hand_on(const Held& held);
    void flush();

    Module& module_;
    Dice dice_;
    std::atomic<plexus_link*> inner_{nullptr}; // null once cut, refused or given up
    void* cookie_ = nullptr;
    std::uint32_t messages_until_cut_; // under the host's lock of this link
    std::uint32_t messages_carried_;   // those of them that are not swallowed; same lock
    // When the first was swallowed, 0: none yet. Relaxed: the module's mutex orders it.
    std::atomic<std::int64_t> swallowing_since_{0};

    // Relaxed would do for all three: each says one thing, and the host's lock or the
    // module's orders what goes with it.
    std::atomic<bool> given_up_{false};
    std::atomic<bool> owes_writable_{false};
    std::atomic<const char*> owes_lost_{nullptr}; // the reason
    // Sends that the inner module still holds.
    std::atomic<std::uint32_t> posted_{0};

    std::deque<Held> held_; // progress
};

} // namespace plexus::faults
