// SPDX-License-Identifier: BSD-3-Clause
// Buffers for frames under way, by number. Grows as needed and never shrinks. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace plexus::tools::lab {

class FrameRoom {
  public:
    explicit FrameRoom(std::size_t frame_bytes)
      : frame_bytes_(frame_bytes) {}

    std::uint32_t take() {
        if (free_.empty()) {
            buffers_.push_back({std::make_unique<std::uint8_t[]>(frame_bytes_), 0});
            return static_cast<std::uint32_t>(buffers_.size() - 1);
        }
        const std::uint32_t number = free_.back();
        free_.pop_back();
        return number;
    }
    void give_back(std::uint32_t number) { free_.push_back(number); }

    std::uint8_t* data(std::uint32_t number) { return buffers_[number].bytes.get(); }
    std::size_t& size(std::uint32_t number) { return buffers_[number].size; }
    std::size_t capacity() const noexcept { return frame_bytes_; }

  private:
    struct Buffer {
        std::unique_ptr<std::uint8_t[]> bytes;
        std::size_t size;
    };
    const std::size_t frame_bytes_;
    std::vector<Buffer> buffers_;
    std::vector<std::uint32_t> free_;
};

} // namespace plexus::tools::lab
