// SPDX-License-Identifier: BSD-3-Clause
// The directory's frames as bytes: little-endian, field by field, every length checked.
// Pure functions; only bytes of a peer that has proved the key come here.
//
//   frame      u32 bytes that follow · u8 kind · u32 request · body
//   publish    u8 length, name · u32 length, value
//   unpublish  u8 length, name
//   lookup     u8 length, name · u64 patience in us
//   fence      u64 patience in us
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
    std::chrono::microseconds patience{0};
    Status status = Status::ok;
};

inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kShortestFrame = 1 + 4;
inline constexpr std::size_t kLongestFrame = kShortestFrame + 1 + kLongestName + 4 + kLongestValue;
/// Longer waits are cut to this: it is as good as for ever, and no sum overflows.
inline constexpr std::chrono::hours kLongestPatience{24 * 365};

/// With its length in front. Name and value must be within their limits.
Bytes encode(const Frame& frame);

/// All of a good answer but its value, which many answers may share: it follows as it is.
Bytes encode_answer_head(std::uint32_t request, std::size_t value_bytes);

/// The length in front of a frame; nothing if no frame can be that long or short.
std::optional<std::size_t> decode_length(std::span<const std::byte, kLengthBytes> bytes);

/// All that follows the length; nothing if it is not exactly one frame.
std::optional<Frame> decode(std::span<const std::byte> bytes);

} // namespace plexus::bootstrap
