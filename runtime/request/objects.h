// SPDX-License-Identifier: BSD-3-Clause
// The objects of a context that others may name: handle -> object, guarded by generation
// and key. Looking one up takes no lock. Taking one out waits for its users, in bounded time; a slot
// that still has some is given back by the last of them.
#pragma once

#include "base/barrier.h"
#include "base/mutex.h"
#include "plexus/pointer.h"

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace plexus::request {

/// What a room above keeps of a binding.
class Attached {
  public:
    virtual ~Attached() = default;
    /// The handle is dead, and nobody has it pinned. @thread any
    virtual void unbound() noexcept = 0;
};

class Objects {
  public:
    using Clock = std::chrono::steady_clock;

    struct Slot {
        // [bind] the key is stored last and loaded first: who sees it sees the rest. 0: nobody.
        std::atomic<std::uint64_t> key{0};
        std::atomic<std::uint32_t> generation{0};
        // [pins] users outside of the leader's own turn, counted by kind in one word: whoever decides by
        // them sees all kinds at the same moment.
        std::atomic<std::uint64_t> pins{0};
        std::atomic<std::uint32_t> waiting{0}; ///< of the running handlers: they wait for an answer
        // [retired] unbound while it had users: the last of them gives the slot back.
        std::atomic<bool> retired{false};
        Objects* table = nullptr;
        std::uint32_t handle = 0;
        std::function<void()> last; ///< the program's: nobody uses the object any more
        void* object = nullptr;
        std::size_t bytes = 0; ///< of bound memory
        std::uint64_t type = 0;
        /// Touched by whoever has entered the slot, and let go of when it is given back.
        std::shared_ptr<Attached> attached;
    };

    Objects() = default;
    ~Objects();
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;

    /// Gives `object` a handle; `target` is complete but for the context. @thread any
    detail::Target add(void* object, std::size_t bytes, std::uint64_t type, std::uint64_t key,
                       std::shared_ptr<Attached> attached = nullptr);
    /// Makes a handle dead and waits until nobody uses its object, except this thread itself inside a
    /// threaded handler on it. `turn` makes progress meanwhile, because users may need some; null inside
    /// a turn. `last` runs when the last user is gone, here if there is none. @thread any
    /// @error would_deadlock inside a turn: what uses the object needs this thread to go on
    /// @error timed_out      the deadline has passed
    Status remove(const detail::Target& target, const std::function<void()>& turn, Clock::time_point deadline,
                  std::function<void()> last = nullptr);
    /// The same without waiting for anything but an inline handler that runs on the object.
    void remove_later(const detail::Target& target, const std::function<void()>& turn,
                      std::function<void()> last);

    /// The slot that a frame names, or null. The leader only; valid until leave().
    Slot* enter(std::uint32_t handle, std::uint32_t generation, std::uint64_t key) noexcept {
        Slot* const slot = find(handle);
        // [use] pairs with remove(): it takes the key away, runs heavy_barrier() and looks at using_;
        // we set using_, run light_barrier() and look at the key.
        using_.store(slot, std::memory_order_relaxed);
        light_barrier();
        if (slot == nullptr || key == 0 || slot->key.load(std::memory_order_acquire) != key ||
            slot->generation.load(std::memory_order_relaxed) != generation)
            return nullptr;
        return slot;
    }
    void leave() noexcept { using_.store(nullptr, std::memory_order_release); } // [use]

    /// Keeps a slot that was entered beyond leave(), for a thread of the pool.
    static void pin(Slot& slot) noexcept { slot.pins.fetch_add(kOther, std::memory_order_relaxed); }
    static void unpin(Slot& slot) noexcept { unpin(slot, kOther); }

    /// A pin for a handler that waits for a thread of the pool, then runs there.
    class HandlerPin {
      public:
        HandlerPin(Slot& slot, std::uint64_t key) noexcept;
        ~HandlerPin();
        HandlerPin(const HandlerPin&) = delete;
        HandlerPin& operator=(const HandlerPin&) = delete;

        Slot& slot() const noexcept { return slot_; }
        /// False: the object was unbound meanwhile, the handler must not run.
        bool begin() noexcept;

      private:
        Slot& slot_;
        const std::uint64_t key_;
        bool begun_ = false;
    };

    /// While it lives, this thread's own pin does not make remove() wait.
    class OwnPin {
      public:
        explicit OwnPin(Slot& slot) noexcept
          : before_(own_) {
            own_ = &slot;
        }
        ~OwnPin() { own_ = before_; }
        OwnPin(const OwnPin&) = delete;
        OwnPin& operator=(const OwnPin&) = delete;

      private:
        Slot* before_;
    };

    /// While it lives, the handler that this thread runs, if any, waits for an answer.
    class Waiting {
      public:
        Waiting() noexcept
          : slot_(own_) {
            if (slot_ != nullptr) slot_->waiting.fetch_add(1, std::memory_order_release);
        }
        ~Waiting() {
            if (slot_ != nullptr) slot_->waiting.fetch_sub(1, std::memory_order_release);
        }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;

      private:
        Slot* const slot_;
    };

  private:
    // Chunk i has kFirst << i slots, so slots never move.
    static constexpr std::uint32_t kFirst = 64;
    static constexpr std::size_t kChunks = 24;

    // Kinds of pins. A pin is of one kind at a time.
    static constexpr std::uint64_t kOther = 1;
    static constexpr std::uint64_t kQueued = 1ull << 24;  ///< threaded handlers that have not begun
    static constexpr std::uint64_t kRunning = 1ull << 50; ///< threaded handlers that have
    static constexpr std::uint32_t running_in(std::uint64_t pins) noexcept {
        return static_cast<std::uint32_t>(pins / kRunning);
    }
    /// All but the queued ones, which are not waited for.
    static constexpr std::uint32_t used_in(std::uint64_t pins) noexcept {
        return static_cast<std::uint32_t>(pins % kQueued) + running_in(pins);
    }

    static void unpin(Slot& slot, std::uint64_t kind) noexcept {
        // [retired] the unpinner counts down, then looks at the flag; remove() sets the flag, then looks
        // at the count: one of them sees the other.
        if (slot.pins.fetch_sub(kind, std::memory_order_seq_cst) == kind &&
            slot.retired.load(std::memory_order_seq_cst))
            slot.table->recycle(slot);
    }

    Slot* find(std::uint32_t handle) const noexcept {
        const std::uint32_t shifted = handle + kFirst;
        const auto chunk = static_cast<std::size_t>(std::bit_width(shifted) - std::bit_width(kFirst));
        if (shifted < kFirst || chunk >= kChunks) return nullptr;
        Slot* const slots = chunks_[chunk].load(std::memory_order_acquire); // pairs with [chunk]
        return slots == nullptr ? nullptr : slots + (shifted - (kFirst << chunk));
    }

    Slot& kill(const detail::Target& target) noexcept;
    bool leader_has_left(const Slot& slot, Clock::time_point deadline) const;
    void retire(Slot& slot, std::function<void()> last);
    void recycle(Slot& slot) noexcept PLEXUS_EXCLUDES(mutex_);

    static thread_local Slot* own_;
    std::array<std::atomic<Slot*>, kChunks> chunks_{}; // [chunk] stored after the slots were made
    std::atomic<Slot*> using_{nullptr};
    RankedMutex<24> mutex_;
    std::uint32_t made_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::vector<std::uint32_t> free_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::request
