// SPDX-License-Identifier: BSD-3-Clause
// Messages in a byte stream: how their bounds travel, and how a reader of the stream hands
// them to the host. Knows no socket and no cipher: tcp uses it, and whatever runs over a
// stream may. Nothing that the wire says is believed before it is checked; memory for large
// messages is the host's, asked for by `place`.
//
// A frame is one word, the message, and zeros up to a multiple of 8 bytes, so that every
// message in an aligned buffer is aligned. The word, 8 bytes little-endian: size of the
// message in the low 56 bits, size of its head (piece 0) in the high 8.
#pragma once

#include "common/byte_order.h"
#include "common/stream_reader.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace plexus::module {

inline constexpr std::size_t kFrameWord = 8;
inline constexpr std::uint64_t kFrameMost = (std::uint64_t{1} << 56) - 1;

constexpr std::size_t frame_padding(std::uint64_t size) noexcept { return (8 - size % 8) % 8; }
/// What a message takes up in the stream.
constexpr std::uint64_t frame_bytes(std::uint64_t size) noexcept {
    return kFrameWord + size + frame_padding(size);
}
/// Largest message that both sides of a link take, where 0 is no limit of theirs. At most kFrameMost.
constexpr std::uint64_t common_limit(std::uint64_t ours, std::uint64_t theirs) noexcept {
    std::uint64_t most = kFrameMost;
    for (const std::uint64_t limit : {ours, theirs})
        if (limit != 0 && limit < most) most = limit;
    return most;
}
inline void write_frame_word(std::byte* out, std::uint64_t size, std::size_t head) noexcept {
    const std::uint64_t word = wire_order(size | std::uint64_t{head} << 56);
    std::memcpy(out, &word, sizeof word);
}

/// The reading end of one stream. @thread progress
class FrameReader final : public StreamReader {
  public:
    struct Limits {
        std::uint64_t eager; ///< largest message that is delivered out of the buffer; at least kHeadMax
        std::uint64_t most;  ///< largest message at all; 0: the host's `place` decides
    };

    explicit FrameReader(const Limits& limits)
      : limits_(limits) {}

    std::size_t take(const Owner& owner, std::span<const std::byte> bytes, std::uint32_t& budget) override;
    std::span<std::byte> landing() const noexcept override { return {landing_, landing_left_}; }
    void landed(const Owner& owner, std::size_t bytes, std::uint32_t& budget) override;
    std::size_t skew() const noexcept override { return static_cast<std::size_t>(skip_ % 8); }
    void abandon(const Owner& owner) override;
    bool inside_message() const noexcept override { return landing_left_ > 0 || skip_ > 0; }
    std::size_t enough(std::span<const std::byte> bytes) const noexcept override;
    const char* corrupt() const noexcept override { return corrupt_; }

  private:
    struct Word {
        std::uint64_t size;
        std::size_t head;
    };
    static Word word_at(const std::byte* from) noexcept;
    /// Null, or what is wrong with it.
    const char* fault_of(const Word& word) const noexcept;
    bool read_word(const std::byte* from, Word& word);
    void begin_large(const Owner& owner, const Word& word, const std::byte* head);
    void finish_landing(const Owner& owner, std::uint32_t& budget);

    const Limits& limits_;
    std::byte* landing_ = nullptr;
    std::size_t landing_left_ = 0;
    void* token_ = nullptr;
    std::uint64_t skip_ = 0; ///< bytes to drop: padding, or a message that the host refused
    const char* corrupt_ = nullptr;
};

} // namespace plexus::module
