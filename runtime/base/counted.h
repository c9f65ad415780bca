// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace plexus {

/// One more in `count` while it lives. Orders nothing.
class Counted {
  public:
    explicit Counted(std::atomic<std::uint32_t>& count) noexcept
      : count_(count) {
        count_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Counted() { count_.fetch_sub(1, std::memory_order_relaxed); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

  private:
    std::atomic<std::uint32_t>& count_;
};

} // namespace plexus
