// SPDX-License-Identifier: BSD-3-Clause
// What went by a method: counts that grow, read by whoever asks. Who counts what: Outbox what leaves, each
// link what comes, Datagrams both of what may be lost, Failover what broke and who was refused.
#pragma once

#include <atomic>
#include <cstdint>

namespace plexus::transport {

/// One direction. Messages are frames of streams: requests, answers, bulk data, what these refer to, and
/// again what was sent again. Bytes are theirs, without what a method adds.
struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;

    Traffic& operator+=(const Traffic& other) noexcept {
        messages += other.messages;
        bytes += other.bytes;
        return *this;
    }
};

struct BothWays {
    Traffic sent;
    Traffic received;

    BothWays& operator+=(const BothWays& other) noexcept {
        sent += other.sent;
        received += other.received;
        return *this;
    }
};

/// One direction of a method, counted by any thread. Each count stands alone and orders nothing.
class SharedTraffic {
  public:
    void add(const Traffic& went) noexcept {
        messages_.fetch_add(went.messages, std::memory_order_relaxed);
        bytes_.fetch_add(went.bytes, std::memory_order_relaxed);
    }
    Traffic sum() const noexcept {
        return {messages_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
    }

  private:
    std::atomic<std::uint64_t> messages_{0};
    std::atomic<std::uint64_t> bytes_{0};
};

/// Counted for a method as a whole, seldom but for datagrams. Each count stands alone and orders nothing.
struct MethodCounts {
    std::atomic<std::uint64_t> repairs{0}; ///< broken links that were made anew, each attempt
    std::atomic<std::uint64_t> fallbacks{
        0}; ///< times that it took over from a method that did not reach a peer, or carried what may be lost
    std::atomic<std::uint64_t> dropped{0};  ///< requests that may be lost, and were lost in this context
    std::atomic<std::uint64_t> refusals{0}; ///< links that this context refused or ended for a broken rule
    std::atomic<std::uint64_t> losses{0};   ///< open links that broke, before anybody said goodbye on them

    SharedTraffic sent;     ///< by no channel, or by one that is no more
    SharedTraffic received; ///< the same

    /// One datagram.
    void count_sent(std::uint64_t bytes) noexcept { sent.add({1, bytes}); }
    void count_received(std::uint64_t bytes) noexcept { received.add({1, bytes}); }
    /// Adds what went by a channel that is no more.
    void keep(const BothWays& went) noexcept {
        sent.add(went.sent);
        received.add(went.received);
    }
    BothWays kept() const noexcept { return {sent.sum(), received.sum()}; }

    static void one_more(std::atomic<std::uint64_t>& count) noexcept {
        count.fetch_add(1, std::memory_order_relaxed);
    }
};

} // namespace plexus::transport
