// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that come out the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace plexus::eco {

class Random {
  public:
    explicit Random(std::uint64_t seed)
      : engine_(seed) {}

    /// In [0, end); `end` is below 2^32 and not 0. The bias is below end / 2^32.
    std::uint32_t below(std::size_t end) noexcept {
        return static_cast<std::uint32_t>(((engine_() >> 32) * end) >> 32);
    }
    template <typename T>
    void shuffle(std::vector<T>& values) noexcept {
        for (std::size_t left = values.size(); left > 1; --left)
            std::swap(values[left - 1], values[below(left)]);
    }

  private:
    std::mt19937_64 engine_;
};

} // namespace plexus::eco
