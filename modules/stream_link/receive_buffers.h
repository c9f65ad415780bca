// SPDX-License-Identifier: BSD-3-Clause
// The memory that links read into. One buffer serves all links as long as each link delivers at once what was
// read. A link that stops at the end of its share keeps the buffer, and the other links read into another:
// there are a few buffers, so that a link with thousands of small messages does not delay the other links.
// @thread progress
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace plexus::stream_link {

class Link;

class ReceiveBuffers {
  public:
    static constexpr std::size_t kMost = 16;

    /// `bytes`: size of each.
    explicit ReceiveBuffers(std::size_t bytes)
      : bytes_(bytes)
      , current_(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}

    /// Where the next read goes; empty while links hold all buffers.
    std::span<std::byte> current() {
        if (current_ == nullptr && !prepare()) [[unlikely]]
            return {};
        return {current_.get(), bytes_};
    }
    /// `link` keeps the current buffer until give_back(). It holds none yet.
    void hold(Link& link);
    /// The buffer of `link`, if it holds one, is free.
    void give_back(const Link& link);

    /// How many links hold a buffer.
    std::size_t held() const noexcept { return held_; }
    /// The link whose turn it is.
    Link& first() const noexcept { return *holders_[0].link; }
    /// Its turn is over.
    void rotate();

  private:
    struct Holder {
        Link* link = nullptr;
        std::unique_ptr<std::byte[]> buffer;
    };
    bool prepare();

    const std::size_t bytes_;
    std::unique_ptr<std::byte[]> current_;
    std::unique_ptr<std::byte[]> spare_; // so that two links in turn do not allocate
    std::array<Holder, kMost> holders_;
    std::size_t held_ = 0;
};

} // namespace plexus::stream_link
