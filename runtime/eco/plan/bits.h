// SPDX-License-Identifier: BSD-3-Clause
// A table of bits, row by row, that can be asked for whole rows. Knows nothing of plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plexus::eco {

class Bits {
  public:
    Bits(std::size_t rows, std::size_t columns)
      : words_((columns + 63) / 64)
      , bits_(rows * words_) {}

    bool has(std::size_t row, std::size_t column) const {
        return (bits_[row * words_ + column / 64] >> (column % 64) & 1) != 0;
    }
    void set(std::size_t row, std::size_t column) {
        bits_[row * words_ + column / 64] |= std::uint64_t{1} << (column % 64);
    }
    std::size_t words() const { return words_; }
    const std::uint64_t* row(std::size_t row) const { return bits_.data() + row * words_; }
    std::uint64_t* row(std::size_t row) { return bits_.data() + row * words_; }

  private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

} // namespace plexus::eco
