// SPDX-License-Identifier: BSD-3-Clause
// What the contexts of a measurement say to each other. One context initiates, another responds.
#pragma once

#include "plexus/plexus.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace plexus::tools::benchmark {

class Player; // initiates a ping-pong
class Source; // initiates a stream
struct Control;
struct Echo;
struct Sink;
struct Store;

using Bytes = std::span<const std::byte>;

// A ping-pong. Eight bytes travel as a number, other sizes as a range. The number, or the first bytes of the
// range, are the stamp of the game, so that a player knows a late answer to a game that was abandoned.
inline constexpr Request<void(Echo&, std::uint64_t)> ping_word{"plexus.benchmark.ping_word"};
inline constexpr Request<void(Echo&, Bytes)> ping_bytes{"plexus.benchmark.ping_bytes"};
inline constexpr Request<void(Player&, std::uint64_t)> pong_word{"plexus.benchmark.pong_word"};
inline constexpr Request<void(Player&, Bytes)> pong_bytes{"plexus.benchmark.pong_bytes"};
/// The loops of both programs answer large messages. A handler must not wait until its message has left, so
/// the runtime would copy what a handler sends.
inline constexpr Request<void(Echo&, Bytes)> ping_large{"plexus.benchmark.ping_large"};
inline constexpr Request<void(Player&, Bytes)> pong_large{"plexus.benchmark.pong_large"};
inline constexpr std::size_t kLarge = 16 * 1024;
/// Whom to answer, and by which methods (empty: as selection finds).
inline constexpr Request<void(Echo&, GlobalPointer<Player>, std::string)> play_with{
    "plexus.benchmark.play_with"};

// A stream in one direction.
inline constexpr Request<void(Sink&, std::uint64_t)> take_word{"plexus.benchmark.take_word"};
inline constexpr Request<void(Sink&, Bytes)> take_bytes{"plexus.benchmark.take_bytes"};
inline constexpr Request<void(Sink&, GlobalPointer<Source>)> drain_for{"plexus.benchmark.drain_for"};
/// So many messages will come; when the last has come, the sink answers with all_here and their sum.
inline constexpr Request<void(Sink&, std::uint64_t)> expect{"plexus.benchmark.expect"};
inline constexpr Request<void(Source&, std::uint64_t)> all_here{"plexus.benchmark.all_here"};

// Memory for put and get, allocated anew for each call of lend and filled with kStored.
inline constexpr std::byte kStored{5};
inline constexpr Request<GlobalSpan<std::byte>(Store&, std::uint64_t)> lend{"plexus.benchmark.lend"};
/// Whether each byte of the memory is the given one now.
inline constexpr Request<bool(Store&, std::uint8_t)> holds{"plexus.benchmark.holds"};

/// Method and skip_poll of the responder; 0: auto.
inline constexpr Request<void(Control&, std::string, std::uint32_t)> set_skip_poll{
    "plexus.benchmark.set_skip_poll"};
/// Method, and whether the responder's loop leaves the method out.
inline constexpr Request<void(Control&, std::string, bool)> set_confined{"plexus.benchmark.set_confined"};
inline constexpr Request<void(Control&)> finish{"plexus.benchmark.finish"};

inline std::string echo_name(std::size_t at) { return "plexus.benchmark.echo." + std::to_string(at); }
inline std::string sink_name(std::size_t at) { return "plexus.benchmark.sink." + std::to_string(at); }
inline constexpr const char* kStoreName = "plexus.benchmark.store";
inline constexpr const char* kControlName = "plexus.benchmark.control";

} // namespace plexus::tools::benchmark
