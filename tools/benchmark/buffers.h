// SPDX-License-Identifier: BSD-3-Clause
// Messages that are sent in turn, all of one size. A single one stays in the caches of its core, as in most
// tests of bandwidth. A set that is larger than the caches is what an application sends that has computed its
// data. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plexus::tools::benchmark {

class Buffers {
  public:
    /// `count`: from 1 on.
    explicit Buffers(std::uint32_t count = 1)
      : count_(count) {}

    /// From now on each has so many bytes, all of them `value`.
    void assign(std::uint64_t bytes, std::byte value) {
        bytes_ = bytes;
        stride_ = (bytes + kLine - 1) / kLine * kLine;
        memory_.assign(stride_ * count_, value);
        next_ = 0;
    }
    /// Copies `head` to the beginning of each; what is longer than they are is cut.
    void stamp(std::span<const std::byte> head) {
        for (std::size_t at = 0; at < memory_.size(); at += stride_)
            std::ranges::copy(head.first(std::min<std::size_t>(head.size(), bytes_)), memory_.data() + at);
    }
    /// The one whose turn it is; the turn passes to the next.
    std::span<std::byte> next() noexcept {
        const std::span<std::byte> taken(memory_.data() + next_, bytes_);
        next_ += stride_;
        if (next_ >= memory_.size()) next_ = 0;
        return taken;
    }
    std::uint64_t bytes() const noexcept { return bytes_; } ///< of each

  private:
    static constexpr std::size_t kLine = 64;

    std::uint32_t count_;
    std::size_t bytes_ = 0;
    std::size_t stride_ = 0; ///< from the beginning of one to that of the next
    std::size_t next_ = 0;
    std::vector<std::byte> memory_{};
};

} // namespace plexus::tools::benchmark
