// SPDX-License-Identifier: BSD-3-Clause
// Receive buffers for rows of numbers from other contexts: numbered boxes, each with room for two
// deliveries, because a neighbour may be one exchange ahead, never two. put() runs in a handler, all
// else on the model's thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace climate {

class Mailbox {
  public:
    explicit Mailbox(std::size_t values)
      : slots_{Slot(values), Slot(values)} {}

    /// Keeps a copy of delivery number `turn` (1, 2, ...). Throws std::logic_error if the delivery does not
    /// have the agreed size, or if the slot still holds an earlier delivery.
    void put(std::uint64_t turn, std::span<const double> values);
    // [arrived] pairs with the store in put(): a thread that reads the number also reads the values.
    bool has(std::uint64_t turn) const noexcept {
        return slot(turn).arrived.load(std::memory_order_acquire) == turn;
    }
    std::span<const double> values(std::uint64_t turn) const noexcept { return slot(turn).values; }
    /// The slot may be filled again.
    void take(std::uint64_t turn) noexcept;

  private:
    struct Slot {
        explicit Slot(std::size_t size)
          : values(size) {}
        std::vector<double> values;
        std::atomic<std::uint64_t> arrived{0}; // [arrived] in has()
        std::atomic<std::uint64_t> taken{0};   // [taken] take() stores, put() loads
    };
    const Slot& slot(std::uint64_t turn) const noexcept { return slots_[turn % 2]; }
    Slot& slot(std::uint64_t turn) noexcept { return slots_[turn % 2]; }

    std::array<Slot, 2> slots_;
};

/// The object that a member of a partition publishes: its boxes.
class Mailroom {
  public:
    static constexpr std::uint32_t kFields = 4; // at most so many in one halo exchange
    enum Side : std::uint32_t { south, north };
    /// The box for halo rows that come from `side`.
    static constexpr std::uint32_t halo_box(Side side, std::uint32_t field) { return side * kFields + field; }
    /// The box for what member `number` of the other model sends.
    static constexpr std::uint32_t shore_box(std::uint32_t number) { return 2 * kFields + number; }

    /// Boxes in order, each with its number of values; 0 for one that stays empty.
    explicit Mailroom(std::span<const std::size_t> sizes);

    /// Throws std::out_of_range if there is no such box.
    Mailbox& box(std::uint32_t number) { return boxes_.at(number); }

  private:
    std::deque<Mailbox> boxes_; // a box can't move
};

} // namespace climate
