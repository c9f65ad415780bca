// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of a measurement say to each other. The near end (rank 0) measures,
// the far end (rank 1) answers.
#pragma once

#include "plexus/plexus.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plexus::tools::bench {

class Player; // near end of a ping-pong
class Source; // near end of a stream
struct Control;

/// Far end of a ping-pong: sends back what comes.
struct Echo {
    GlobalPointer<Player> back;
    std::vector<std::byte> own{}; ///< what answers a large one
    bool due = false;             ///< a large one has come and is to be answered by the loop
};

/// Far end of a stream: counts, and looks at both ends of each message.
struct Sink {
    GlobalPointer<Source> back;
    std::uint64_t wanted = 0;
    std::uint64_t seen = 0;
    std::uint64_t sum = 0;
};

using Bytes = std::span<const std::byte>;

// Eight bytes travel as a number, other sizes as a range.
inline constexpr Request<void(Echo&, std::uint64_t)> ping_word{"plexus.bench.ping_word"};
inline constexpr Request<void(Echo&, Bytes)> ping_bytes{"plexus.bench.ping_bytes"};
inline constexpr Request<void(Player&, std::uint64_t)> pong_word{"plexus.bench.pong_word"};
inline constexpr Request<void(Player&, Bytes)> pong_bytes{"plexus.bench.pong_bytes"};
/// Large ones are answered by the programs' loops: a handler may not wait until its bytes
/// have left, so that what it sends is copied first.
inline constexpr Request<void(Echo&, Bytes)> ping_large{"plexus.bench.ping_large"};
inline constexpr Request<void(Player&, Bytes)> pong_large{"plexus.bench.pong_large"};
inline constexpr std::size_t kLarge = 16 * 1024;
/// Whom to answer, and by which methods (empty: as selection finds).
inline constexpr Request<void(Echo&, GlobalPointer<Player>, std::string)> play_with{"plexus.bench.play_with"};

inline constexpr Request<void(Sink&, std::uint64_t)> take_word{"plexus.bench.take_word"};
inline constexpr Request<void(Sink&, Bytes)> take_bytes{"plexus.bench.take_bytes"};
inline constexpr Request<void(Sink&, GlobalPointer<Source>)> drain_for{"plexus.bench.drain_for"};
/// So many messages will come; all_here tells when they did, with their sum.
inline constexpr Request<void(Sink&, std::uint64_t)> expect{"plexus.bench.expect"};
inline constexpr Request<void(Source&, std::uint64_t)> all_here{"plexus.bench.all_here"};

/// Far memory that put and get move: made anew, of that size, for each call of lend.
struct Store {
    Context& here;
    BoundSpan<std::byte> bytes{};
};
inline constexpr std::byte kStored{5}; ///< each byte of it, at first
inline constexpr Request<GlobalSpan<std::byte>(Store&, std::uint64_t)> lend{"plexus.bench.lend"};
/// Whether each byte of it is that now.
inline constexpr Request<bool(Store&, std::uint8_t)> holds{"plexus.bench.holds"};

/// Method and skip_poll of the far end; 0: auto.
inline constexpr Request<void(Control&, std::string, std::uint32_t)> set_skip_poll{
    "plexus.bench.set_skip_poll"};
/// Method, and whether it is kept out of the far end's loop.
inline constexpr Request<void(Control&, std::string, bool)> set_confined{"plexus.bench.set_confined"};
inline constexpr Request<void(Control&)> finish{"plexus.bench.finish"};

inline std::string echo_name(std::size_t at) { return "plexus.bench.echo." + std::to_string(at); }
inline std::string sink_name(std::size_t at) { return "plexus.bench.sink." + std::to_string(at); }
inline constexpr const char* kStoreName = "plexus.bench.store";
inline constexpr const char* kControlName = "plexus.bench.control";

} // namespace plexus::tools::bench
