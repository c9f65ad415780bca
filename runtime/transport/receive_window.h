// SPDX-License-Identifier: BSD-3-Clause
// The receiver's half of exactly-once delivery (note 0003): how far each stream of a peer was
// delivered, and when its sender is told. Values: no lock, clock, link or scheduler.
#pragma once

#include "transport/traffic.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

namespace plexus::transport {

/// One link's incoming stream.
class ReceiveWindow {
  public:
    /// So many frames or bytes are delivered before the sender is told, if it keeps copies.
    static constexpr std::uint64_t kAckFrames = 256;
    static constexpr std::uint64_t kAckBytes = 256 * 1024;
    /// A module may hand over many frames in a row, and their handlers may take long.
    static constexpr std::uint64_t kLookFrames = 4;

    enum class Ack : std::uint8_t {
        none,  ///< nothing to do
        later, ///< the first frame since the last acknowledgement: tell the sender after a while
        look,  ///< tell the sender if that is overdue
        now,   ///< tell the sender
    };

    /// `retained`: the sender keeps copies until they are acknowledged.
    explicit ReceiveWindow(bool retained) noexcept
      : retained_(retained) {}

    /// 0: the peer has not named its stream yet.
    std::uint32_t stream() const noexcept { return stream_; }
    void start(std::uint32_t stream) noexcept { stream_ = stream; }

    /// A frame of so many bytes was delivered; `at_once`: its sender waits for the acknowledgement.
    Ack delivered(std::uint64_t bytes, bool at_once) noexcept {
        const std::uint64_t frames = count();
        const std::uint64_t all_bytes = bytes_.load(std::memory_order_relaxed) + bytes;
        delivered_.store(frames + 1, std::memory_order_relaxed);
        bytes_.store(all_bytes, std::memory_order_relaxed);
        const std::uint64_t before = frames - acked_;
        if (!retained_) return before == 0 ? Ack::later : Ack::none;
        if (at_once || before + 1 >= kAckFrames || all_bytes - acked_bytes_ >= kAckBytes) return Ack::now;
        if (before == 0) return Ack::later;
        return (frames + 1) % kLookFrames == 0 ? Ack::look : Ack::none;
    }
    std::uint64_t count() const noexcept { return delivered_.load(std::memory_order_relaxed); }
    /// @thread any
    Traffic traffic() const noexcept { return {count(), bytes_.load(std::memory_order_relaxed)}; }
    bool owes_ack() const noexcept { return count() != acked_; }
    /// The count to tell the sender now; it counts as told.
    std::uint64_t take_ack() noexcept {
        acked_bytes_ = bytes_.load(std::memory_order_relaxed);
        return acked_ = count();
    }

  private:
    const bool retained_;
    std::uint32_t stream_ = 0;
    // Counts: the progress thread alone writes them, and whoever reads them learns nothing else.
    std::atomic<std::uint64_t> delivered_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::uint64_t acked_ = 0;
    std::uint64_t acked_bytes_ = 0;
};

/// The streams of one peer whose links are no more. What was said of a stream once stays said.
class PastStreams {
  public:
    static constexpr std::size_t kMost = 1024;

    /// Keeps the number of frames that were delivered; the first word about a stream counts. Of more
    /// than kMost streams the oldest are forgotten.
    void remember(std::uint32_t stream, std::uint64_t delivered);
    /// How many frames were delivered; nullopt: the stream is not among those that are remembered.
    std::optional<std::uint64_t> find(std::uint32_t stream) const;
    /// True if the stream may have been remembered once and was forgotten.
    bool forgotten(std::uint32_t stream) const noexcept { return stream <= forgotten_; }

  private:
    std::map<std::uint32_t, std::uint64_t> delivered_;
    std::uint32_t forgotten_ = 0; ///< streams up to this number
};

} // namespace plexus::transport
