// SPDX-License-Identifier: BSD-3-Clause
// A list that only grows, up to a fixed size, while others read it: what is in it stays where it is.
// One thread adds at a time; any thread reads.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace plexus {

template <class T, std::size_t Most>
class GrowOnly {
  public:
    /// At most `Most` times. Whoever sees the new size sees all of the item.
    T& add(std::unique_ptr<T> item) {
        const std::size_t at = size_.load(std::memory_order_relaxed); // this thread's own
        assert(at < Most);
        items_[at] = std::move(item);
        size_.store(at + 1, std::memory_order_release); // [added]
        return *items_[at];
    }

    std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); } // pairs with [added]
    T& operator[](std::size_t at) const noexcept { return *items_[at]; }
    /// Those that there are now.
    std::span<const std::unique_ptr<T>> all() const noexcept { return {items_.data(), size()}; }

  private:
    std::array<std::unique_ptr<T>, Most> items_;
    std::atomic<std::size_t> size_{0}; // [added] is set after the item
};

} // namespace plexus
