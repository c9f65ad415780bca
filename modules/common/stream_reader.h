// SPDX-License-Identifier: BSD-3-Clause
// The reading end of a byte stream: finds in it what is for the host, and hands that over. Knows no socket.
// What it takes for one piece, and how much of a piece it needs at once, is its own. @thread progress
#pragma once

#include "base/lock.h"
#include "plexus/module/module.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plexus::module {

class StreamReader {
  public:
    /// Whom to tell. No callback comes once `given_up` is set. Whoever sets it holds `border`,
    /// and so does whoever writes to a landing: nothing is written there after it.
    struct Owner {
        const plexus_host& host;
        void* cookie;
        const std::atomic<bool>& given_up;
        Mutex& border;
    };

    StreamReader() = default;
    virtual ~StreamReader() = default;
    StreamReader(const StreamReader&) = delete;
    StreamReader& operator=(const StreamReader&) = delete;

    /// Takes pieces from `bytes`, which begin where the last call stopped, 8-byte aligned
    /// wherever a piece begins. Returns how many bytes are done with: what is left begins a
    /// piece. Stops early when `budget` messages have been handed over.
    virtual std::size_t take(const Owner& owner, std::span<const std::byte> bytes, std::uint32_t& budget) = 0;
    /// How many bytes from the beginning of a piece on take() needs to get on with it, as far
    /// as `bytes` say.
    virtual std::size_t enough(std::span<const std::byte> bytes) const noexcept = 0;
    /// Not null: the stream makes no sense, and why. Nothing more may be taken.
    virtual const char* corrupt() const noexcept = 0;

    // A reader whose pieces all fit into a buffer needs nothing of the following.

    /// Where the next bytes of the stream belong; empty unless a large message is coming.
    virtual std::span<std::byte> landing() const noexcept { return {}; }
    /// So many bytes have been put there.
    virtual void landed(const Owner&, std::size_t, std::uint32_t&) {}
    /// Bytes up to the next piece, without whole words and without what goes to landing(): so far before an
    /// 8-byte border must the next bytes be read to, so that pieces begin at such a border.
    virtual std::size_t skew() const noexcept { return 0; }
    /// Ends what is being placed, for the stream is over.
    virtual void abandon(const Owner&) {}
    /// The stream stops in the middle of a large message.
    virtual bool inside_message() const noexcept { return false; }
};

} // namespace plexus::module
