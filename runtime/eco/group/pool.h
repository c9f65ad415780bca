// SPDX-License-Identifier: BSD-3-Clause
// Memory that is lent for a message or a call and used again. Not thread-safe: its owner's
// lock guards it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace plexus::eco::detail {

struct Buffer {
    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity = 0;
    std::size_t size = 0;

    std::byte* data() noexcept { return memory.get(); }
    std::span<const std::byte> bytes() const noexcept { return {memory.get(), size}; }
};

class Pool {
  public:
    Buffer take(std::size_t size) {
        for (auto free = free_.rbegin(); free != free_.rend(); ++free) {
            if (free->capacity < size || free->capacity > 4 * size + kSmall) continue;
            Buffer out = std::move(*free);
            held_ -= out.capacity;
            *free = std::move(free_.back());
            free_.pop_back();
            out.size = size;
            return out;
        }
        const std::size_t capacity = size < kSmall ? kSmall : size;
        return {std::unique_ptr<std::byte[]>(new std::byte[capacity]), capacity, size};
    }
    void give(Buffer buffer) {
        if (buffer.memory == nullptr || free_.size() >= kMostBuffers || held_ + buffer.capacity > kMostBytes)
            return;
        held_ += buffer.capacity;
        free_.push_back(std::move(buffer));
    }

  private:
    static constexpr std::size_t kSmall = 512;
    static constexpr std::size_t kMostBuffers = 64;
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    std::vector<Buffer> free_;
    std::size_t held_ = 0;
};

} // namespace plexus::eco::detail
