// SPDX-License-Identifier: BSD-3-Clause
// The links that received most recently. They are read directly, without a question to epoll. @thread
// progress
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace plexus::stream_link {

class Link;

class HotLinks {
  public:
    bool empty() const noexcept { return count_ == 0; }
    /// Reads each link once; returns how many events that were. A link that has had nothing for long is not
    /// hot any more.
    std::uint32_t read(std::uint32_t budget);
    /// `link` has just received: it is hot, unless others are hotter. False: it was hot before.
    bool add(Link& link);
    void remove(const Link& link);

  private:
    struct Entry {
        Link* link = nullptr;
        std::uint32_t misses = 0; // fruitless reads in a row
    };
    static constexpr std::size_t kMost = 2;
    static constexpr std::uint32_t kMostMisses = 512; // then a link is not hot any more
    static constexpr std::uint32_t kFewMisses = 32;   // up to here it keeps its place before another

    std::array<Entry, kMost> links_{};
    std::size_t count_ = 0;
};

} // namespace plexus::stream_link
