// SPDX-License-Identifier: BSD-3-Clause
// Whether it pays to compress what a link sends next: arithmetic over what was seen of the link, of the
// data and of the processor. Knows no clock, no codec and no link. Not for two threads at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plexus::zstd {

/// How many bytes a second a link carries, from how its queue drains.
class LinkRate {
  public:
    /// Before each send: the time, the bytes that the link holds and has not got out yet, and what the
    /// inner method itself thinks of its rate, which counts until a queue was seen.
    void look(std::uint64_t now_ns, std::uint64_t queued, std::uint64_t told_per_second) noexcept;
    /// The next look is a first one: there were sends without.
    void pause() noexcept { looked_ns_ = busy_ns_ = busy_bytes_ = 0; }
    /// The link took so many bytes.
    void accepted(std::uint64_t bytes) noexcept { queued_ += bytes; }
    /// Bytes a second; 0: unknown.
    double per_second() const noexcept { return seen_ > 0 ? seen_ : told_; }

  private:
    double seen_ = 0;
    double told_ = 0;
    std::uint64_t looked_ns_ = 0;
    std::uint64_t queued_ = 0;     // then, and what was accepted since
    std::uint64_t busy_ns_ = 0;    // how long the queue has not been empty
    std::uint64_t busy_bytes_ = 0; // what it carried in that time
};

class Worth {
  public:
    /// With `is_always` data that shrinks is worth it on any link.
    explicit Worth(bool is_always)
      : is_always_(is_always) {}

    enum class Step : std::uint8_t {
        plain,  ///< send it as it is
        sample, ///< compress a sample, then ask pays()
        whole   ///< compress it
    };

    /// Whether a message of so many bytes goes as it is, whatever the link: the data does not shrink, and
    /// it is too early to look again. Such messages cost no look at the link.
    bool passes(std::size_t size) noexcept;
    /// What to do with a message of so many bytes that did not pass, after a look at the link.
    Step step(std::size_t size) noexcept;
    /// So many bytes were compressed to `packed` bytes in `took_ns`; `packed` >= `bytes`: they did not
    /// shrink.
    void measured(std::size_t bytes, std::size_t packed, std::uint64_t took_ns) noexcept;
    /// Whether what was measured last pays on this link.
    bool pays() const noexcept;

    LinkRate rate;

    /// A result above this part of the data is no gain.
    static constexpr double kMostRatio = 15.0 / 16;
    /// After a measurement that does not pay so many bytes pass before the next, then twice as many …
    static constexpr std::uint64_t kFirstPause = std::uint64_t{1} << 20;
    static constexpr std::uint64_t kLongestPause = std::uint64_t{256} << 20;
    /// Larger messages are judged by a sample each.
    static constexpr std::size_t kSampledFrom = 32 * 1024;
    /// Processor time of the receiver for each of the sender's.
    static constexpr double kUnpacking = 0.4;

  private:
    bool shrinks() const noexcept { return ratio_ <= kMostRatio; }

    const bool is_always_;
    double ratio_ = 1;   // packed bytes of each byte, lately
    double cost_ns_ = 0; // of each byte, lately; 0: nothing measured
    std::uint64_t pause_ = kFirstPause;
    std::uint64_t pause_left_ = 0;
};

} // namespace plexus::zstd
