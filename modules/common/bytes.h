// SPDX-License-Identifier: BSD-3-Clause
// What descriptors and handshakes are made of: numbers of some bytes, little-endian, and records of a fixed
// length, one behind the other without gaps. Pure functions.
#pragma once

#include "base/byte_reader.h"
#include "plexus/module/module.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plexus::module {

/// As plexus::ByteReader, also over what the contract's functions are given.
class ByteReader : public plexus::ByteReader {
  public:
    using plexus::ByteReader::ByteReader;
    explicit ByteReader(plexus_view bytes) noexcept
      : plexus::ByteReader(std::span(static_cast<const std::byte*>(bytes.data), bytes.size)) {}
};

/// Appends the lowest `size` bytes of a number.
template <class Byte>
void put(std::vector<Byte>& out, std::uint64_t value, std::size_t size) {
    static_assert(sizeof(Byte) == 1);
    for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<Byte>(value >> (8 * i) & 0xff));
}
template <class Byte, std::size_t N>
void put(std::vector<Byte>& out, const std::array<std::uint8_t, N>& record) {
    static_assert(sizeof(Byte) == 1);
    for (const std::uint8_t byte : record) out.push_back(static_cast<Byte>(byte));
}

} // namespace plexus::module
