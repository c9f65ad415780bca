// SPDX-License-Identifier: BSD-3-Clause
// The directory's frames as bytes: little-endian, field by field, every length checked.
// Pure functions, called only with bytes of a peer that has proved the key.
//
//   frame      u32 bytes that follow · u8 kind · u32 request · body
//   publish    u8 length, name · u32 length, value
//   unpublish  u8 length, name
//   lookup     u8 length, name · u64 timeout in us
//   fence      u64 timeout in us
//   answer     i32 status · u32 length, value or sentence
#pragma once

#include "bootstrap/directory.h"

#include <chrono>
#include <optional>

namespace plexus::bootstrap {

enum class Kind : std::uint8_t { publish = 1, unpublish = 2, lookup = 3, fence = 4, answer = 64 };

struct Frame {
    Kind kind{};
    std::uint32_t request = 0; ///< an answer carries its question's
    std::string name{};
    Bytes value{};
    std::chrono::microseconds timeout{0};
    Status status = Status::ok;
};

inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kShortestFrame = 1 + 4;
inline constexpr std::size_t kLongestFrame = kShortestFrame + 1 + kLongestName + 4 + kLongestValue;
/// Longer waits are shortened to this, so that no sum of times overflows.
inline constexpr std::chrono::hours kLongestTimeout{24 * 365};

/// With its length in front. Name and value must be within their limits.
Bytes encode(const Frame& frame);

/// A good answer except its value: many answers may share the value, which follows unchanged.
Bytes encode_answer_head(std::uint32_t request, std::size_t value_bytes);

/// The length in front of a frame; nothing if no frame can be that long or short.
std::optional<std::size_t> decode_length(std::span<const std::byte, kLengthBytes> bytes);

/// All that follows the length; nothing if it is not exactly one frame.
std::optional<Frame> decode(std::span<const std::byte> bytes);

} // namespace plexus::bootstrap
