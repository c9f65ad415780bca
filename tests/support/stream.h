// SPDX-License-Identifier: BSD-3-Clause
// Numbered messages with known content, sent under back-pressure and checked on arrival:
// right bytes, right order, each once. A stream's first message carries its seed, so the
// receiver knows what to expect of the others. Content is a pure function of (seed, n).
#pragma once

#include "support/bare_host.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace plexus::testing {

/// How long the n-th message is; n counts from 0.
using SizeOf = std::function<std::size_t(std::uint64_t)>;

/// `bytes`, or the most that the module under test carries in one message. Any thread.
std::size_t at_most(std::size_t bytes);

SizeOf always(std::size_t bytes);
/// Mostly small, now and then up to `most`, the same for the same n.
SizeOf mixed(std::size_t most);

Bytes content(std::uint64_t seed, std::uint64_t n, std::size_t size);
bool has_content(ByteView message, std::uint64_t seed, std::uint64_t n);

/// The sending side. One thread at a time.
class Stream {
  public:
    Stream(End& end, SizeOf size_of, std::uint64_t messages);

    /// Sends until all are out, there is no room, or it is the turn of a poll. True: all are out. After an
    /// AGAIN it waits for `writable`: a module that forgets it makes the test run into its deadline.
    bool step();
    bool done() const noexcept { return next_ == messages_; }
    /// What a send answered that is neither accepted nor AGAIN, else OK.
    std::int32_t failure() const noexcept { return failure_; }
    std::uint64_t sent() const noexcept { return next_; }
    std::uint64_t again() const noexcept { return again_; }

  private:
    End& end_;
    SizeOf size_of_;
    std::uint64_t messages_;
    std::uint64_t seed_;
    std::uint64_t next_ = 0;
    std::uint64_t again_ = 0;
    std::uint64_t blocked_at_ = UINT64_MAX; // End::writable() when AGAIN came
    std::int32_t failure_ = PLEXUS_OK;
    std::shared_ptr<const Bytes> waiting_;
};

/// The receiving side of every stream to one host: takes its message hook. Outlives the
/// traffic. The answers may be asked for from any thread.
class Receiver {
  public:
    Receiver(BareHost& host, SizeOf size_of);

    std::uint64_t received() const; ///< on all links
    std::uint64_t received(const End& end) const;
    /// The first thing that was wrong, or nothing.
    std::string fault() const;

  private:
    struct Progress {
        std::uint64_t seed = 0;
        std::uint64_t next = 0;
    };
    void take(End& end, ByteView message);

    SizeOf size_of_;
    mutable std::mutex mutex_;
    std::map<const End*, Progress> progress_;
    std::uint64_t received_ = 0;
    std::string fault_;
};

/// Carries `messages` over `from` to `to`'s host, polling both, and says what went wrong:
/// an empty text means that every message arrived once, in order, unchanged.
std::string carry(Pair& pair, SizeOf size_of, std::uint64_t messages,
                  std::chrono::nanoseconds limit = std::chrono::seconds(30));

} // namespace plexus::testing
