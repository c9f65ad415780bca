// SPDX-License-Identifier: BSD-3-Clause
// What went by a method: counts that grow, read by whoever asks. Who counts what: Outbox what leaves, each
// link what comes, Failover what broke and who was refused.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

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

/// Counted for a method as a whole, seldom. Each count stands alone and orders nothing.
struct MethodCounts {
    std::atomic<std::uint64_t> repairs{0}; ///< broken links that were made anew, each attempt
    std::atomic<std::uint64_t> fallbacks{
        0}; ///< times that it took over from a method that did not reach a peer, or carried what may be lost
    std::atomic<std::uint64_t> dropped{0};  ///< requests that may be lost, and were lost in this context
    std::atomic<std::uint64_t> refusals{0}; ///< links that this context refused or ended for a broken rule
    std::atomic<std::uint64_t> losses{0};   ///< open links that broke, before anybody said goodbye on them

    /// Adds what went by a channel that is no more.
    void keep(const BothWays& went) noexcept {
        const std::uint64_t counts[]{went.sent.messages, went.sent.bytes, went.received.messages,
                                     went.received.bytes};
        for (std::size_t i = 0; i < std::size(past); ++i)
            past[i].fetch_add(counts[i], std::memory_order_relaxed);
    }
    BothWays kept() const noexcept {
        const auto of = [&](std::size_t i) { return past[i].load(std::memory_order_relaxed); };
        return {{of(0), of(1)}, {of(2), of(3)}};
    }
    std::atomic<std::uint64_t> past[4]{};

    static void one_more(std::atomic<std::uint64_t>& count) noexcept {
        count.fetch_add(1, std::memory_order_relaxed);
    }
};

} // namespace plexus::transport
