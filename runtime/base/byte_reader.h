// SPDX-License-Identifier: BSD-3-Clause
// Numbers and records of a fixed length, little-endian, one behind the other without gaps. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace plexus {

/// Reads forward bytes that may be anybody's. Once it has run over the end, all it gives is zero or empty,
/// and ok() is false. Does not own them.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) noexcept
      : bytes_(bytes) {}
    explicit ByteReader(std::span<const std::uint8_t> bytes) noexcept
      : bytes_(std::as_bytes(bytes)) {}

    /// Of at most eight bytes.
    std::uint64_t number(std::size_t size) noexcept {
        std::uint64_t value = 0;
        unsigned shift = 0;
        for (const std::byte byte : take(size)) {
            value |= std::to_integer<std::uint64_t>(byte) << shift;
            shift += 8;
        }
        return value;
    }
    std::span<const std::byte> take(std::size_t size) noexcept {
        ok_ = ok_ && size <= bytes_.size();
        if (!ok_) return {};
        const auto taken = bytes_.first(size);
        bytes_ = bytes_.subspan(size);
        return taken;
    }
    std::string_view text(std::size_t size) noexcept {
        const auto taken = take(size);
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    template <std::size_t N>
    std::array<std::uint8_t, N> array() noexcept {
        std::array<std::uint8_t, N> out{};
        fill(out);
        return out;
    }
    template <std::size_t N>
    void fill(std::array<std::uint8_t, N>& out) noexcept {
        const auto taken = take(N);
        for (std::size_t i = 0; i < taken.size(); ++i) out[i] = std::to_integer<std::uint8_t>(taken[i]);
    }
    bool ok() const noexcept { return ok_; }
    /// All of it has been read, and no more than that.
    bool at_end() const noexcept { return ok_ && bytes_.empty(); }

  private:
    std::span<const std::byte> bytes_;
    bool ok_ = true;
};

} // namespace plexus
