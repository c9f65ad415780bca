// SPDX-License-Identifier: BSD-3-Clause
// The memory that this context holds for one peer: frames that wait, are kept until they are
// acknowledged, or are read by a module, and control frames, each with what it costs beside its bytes.
// One account for all channels to the peer, so that limits bound their sum. A channel charges its
// allowance, which takes from the account in parts: what leaves at once costs the account nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace plexus::transport {

/// @thread any
class PeerAccount {
  public:
    std::uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
    /// False, and nothing is taken: more than `limit` bytes would be in use.
    bool take(std::uint64_t bytes, std::uint64_t limit) noexcept;
    /// For what is there already.
    void charge(std::uint64_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
    void refund(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> used_{0}; // a count, orders nothing
};

/// A channel's part of the account, taken a little ahead of need. The channel's lock guards it.
/// `held` is always what the channel holds now, in bytes.
class Allowance {
  public:
    /// `usual`: up to so many bytes the account may be in use by what was taken ahead.
    Allowance(PeerAccount& account, std::uint64_t usual) noexcept
      : account_(account)
      , usual_(usual)
      , ahead_(usual / kParts) {}
    ~Allowance() { account_.refund(granted_); }
    Allowance(const Allowance&) = delete;
    Allowance& operator=(const Allowance&) = delete;

    /// Up to so many bytes the channel may hold without asking.
    std::uint64_t granted() const noexcept { return granted_; }
    /// What others have of the account, in bytes: channels, and the control frames of all links.
    std::uint64_t others() const noexcept {
        const std::uint64_t used = account_.used();
        return used > granted_ ? used - granted_ : 0;
    }
    /// True if `cost` bytes more may be held: all channels to the peer hold at most `limit` bytes then, or
    /// at most `little` bytes now.
    bool take(std::uint64_t held, std::uint64_t cost, std::uint64_t limit, std::uint64_t little) noexcept;
    /// Charges what is held and was not asked for; gives back what is much more than is held.
    void fit(std::uint64_t held) noexcept;

  private:
    static constexpr std::uint64_t kParts = 32; ///< of the usual limit, to be taken ahead at once

    PeerAccount& account_;
    const std::uint64_t usual_;
    const std::uint64_t ahead_;
    std::uint64_t granted_ = 0;
};

} // namespace plexus::transport
