// SPDX-License-Identifier: BSD-3-Clause
// Finds the records of TLS (RFC 8446, section 5.1) in a stream of bytes, by their first five bytes. Knows no
// key: what is in a record is the engine's business.
#pragma once

#include "common/stream_reader.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace plexus::tls {

inline constexpr std::size_t kRecordHead = 5;
/// Largest record there may be, with its head.
inline constexpr std::size_t kMostRecord = kRecordHead + 16 * 1024 + 256;

/// Size of the record that begins with these kRecordHead bytes, with its head. Nothing: no record begins so.
std::optional<std::size_t> record_size(std::span<const std::byte> head) noexcept;

/// Hands the host each record as a message. @thread progress
class RecordReader final : public module::StreamReader {
  public:
    std::size_t take(const Owner& owner, std::span<const std::byte> bytes, std::uint32_t& budget) override;
    std::size_t enough(std::span<const std::byte> bytes) const noexcept override;
    const char* corrupt() const noexcept override { return corrupt_; }

  private:
    const char* corrupt_ = nullptr;
};

} // namespace plexus::tls
