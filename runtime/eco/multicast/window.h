// SPDX-License-Identifier: BSD-3-Clause
// The two ends of one broadcast by multicast, as values: which datagrams may leave, which have come, which
// are asked for again, and when. No clock: times are nanoseconds that the caller reads. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace plexus::eco::multicast {

/// Datagrams of a call: `count` of them from number `first` on.
struct Range {
    std::uint32_t first;
    std::uint32_t count;
    bool operator==(const Range&) const = default;
};

/// Lets a sender be at most `window` datagrams ahead of the slowest receiver.
class SendWindow {
  public:
    SendWindow(std::uint32_t members, std::uint32_t me, std::uint32_t count, std::uint32_t window);

    bool may_send() const noexcept { return next_ < count_ && next_ - least_ < window_; }
    /// The next number. Only if may_send().
    std::uint32_t take_next() noexcept { return next_++; }
    /// The member has all datagrams below `below`. False: it can't be.
    bool confirm(std::uint32_t member, std::uint32_t below);
    /// All members have all. What has not left then need not leave.
    bool complete() const noexcept { return least_ == count_; }
    /// The member that has the fewest.
    std::uint32_t slowest() const noexcept;
    std::uint32_t confirmed() const noexcept { return least_; }

  private:
    std::uint32_t count_;
    std::uint32_t window_;
    std::uint32_t next_ = 0;
    std::uint32_t least_ = 0;
    std::vector<std::uint32_t> confirmed_; // by member
};

/// What a receiver has, and what it lacks.
class ReceiveWindow {
  public:
    explicit ReceiveWindow(std::uint32_t count)
      : has_(count, false) {}

    /// True: the receiver is further than before. False: a copy of what it has, or there is no such number.
    bool take(std::uint32_t sequence);
    bool complete() const noexcept { return first_missing_ == has_.size(); }
    /// All datagrams below this one are there.
    std::uint32_t first_missing() const noexcept { return first_missing_; }
    /// One more than the highest number that has come.
    std::uint32_t seen() const noexcept { return seen_; }
    /// At most `most` datagrams below `below` that have not come, in at most kMostRanges ranges, lowest
    /// first.
    std::vector<Range> missing(std::uint32_t below, std::uint32_t most) const;
    static constexpr std::size_t kMostRanges = 64;

  private:
    std::vector<bool> has_;
    std::uint32_t first_missing_ = 0;
    std::uint32_t seen_ = 0;
};

/// When a receiver asks the sender for what it lacks. Gaps are asked for at once, if more datagrams have come
/// behind them than may overtake others. After a silence all is asked for. If the sender has not begun the
/// call, the next silence may last twice as long, up to a limit.
class RepairTimer {
  public:
    /// A silence of this length, and the longest one.
    static constexpr std::uint64_t kSilence = 5'000'000;
    static constexpr std::uint64_t kLongestSilence = 100'000'000;

    /// `reorder`: so many datagrams may overtake one.
    RepairTimer(std::uint64_t now, std::uint32_t reorder) noexcept
      : reorder_(reorder)
      , quiet_since_(now) {}

    /// A datagram that ReceiveWindow::take() was true for: a copy ends no silence.
    void datagram_came(std::uint64_t now) noexcept {
        quiet_since_ = now;
        silence_ = kSilence;
    }
    void asked() noexcept { open_ = true; }
    enum class Answer : std::uint8_t {
        fresh,     ///< something new: until a datagram comes again, the rest is asked for at once
        copies,    ///< what was asked for has come meanwhile: the silence begins anew
        not_begun, ///< nothing: the sender has not begun the call
    };
    void answered(Answer what, std::uint64_t now) noexcept;
    /// Numbers below this one are asked for now, if they are missing. 0: nothing is.
    std::uint32_t ask_below(const ReceiveWindow& window, std::uint32_t count,
                            std::uint64_t now) const noexcept;

  private:
    std::uint32_t reorder_;
    std::uint64_t quiet_since_;
    std::uint64_t silence_ = kSilence;
    bool open_ = false; ///< an answer has not come yet
};

/// A token bucket: at most `bytes_per_second` in the mean, and `burst` bytes at once. A rate of 0: no limit.
class RateLimiter {
  public:
    RateLimiter(std::uint64_t bytes_per_second, std::uint64_t burst) noexcept
      : rate_(bytes_per_second)
      , burst_(burst)
      , tokens_(burst) {}

    /// 0: these bytes may leave now, and are counted. Else they may leave after so many nanoseconds, and are
    /// not counted. More bytes than `burst` leave if the bucket is full. `now` never goes back.
    std::uint64_t take(std::uint64_t bytes, std::uint64_t now) noexcept;

  private:
    std::uint64_t rate_;
    std::uint64_t burst_;
    std::uint64_t tokens_;
    std::uint64_t filled_ = 0;
};

} // namespace plexus::eco::multicast
