// SPDX-License-Identifier: BSD-3-Clause
// What libFuzzer gives a target that plays a scene: choices, numbers and bytes, taken one after the other.
// After the end choices are 0 and bytes are none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plexus::fuzz {

class Input {
  public:
    explicit Input(std::span<const std::byte> bytes)
      : bytes_(bytes) {}
    std::uint8_t byte() {
        const std::span<const std::byte> one = take(1);
        return one.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(one[0]);
    }
    /// Mostly small, or anything.
    std::uint64_t number() {
        const std::uint8_t choice = byte();
        if (choice < 0xf0) return choice;
        std::uint64_t out = 0;
        for (int i = 0; i < 8; ++i) out = out << 8 | byte();
        return out;
    }
    std::span<const std::byte> take(std::size_t size) {
        const std::span<const std::byte> out = bytes_.first(std::min(size, bytes_.size()));
        bytes_ = bytes_.subspan(out.size());
        return out;
    }
    bool at_end() const noexcept { return bytes_.empty(); }

  private:
    std::span<const std::byte> bytes_;
};

} // namespace plexus::fuzz
