// SPDX-License-Identifier: BSD-3-Clause
// One of the four contexts of a soak, in a process of its own. Its threads send to the others without a
// pause; it obeys the director's words until it is told to end.
//
// The director's words, a record each: the first byte, then
//   p rank life pointer   from now on that rank is this life of it
//   c                     cuts the tcp connections to others
//   g rank size name      joins a group of that name and runs collectives in it
//   q count life …        stops sending, waits for what is under way, and until it has heard that these
//                         lives are over
//   r                     reports: when all have stopped
//   e                     ends
#pragma once

#include "support/process.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plexus::soak {

inline constexpr std::uint64_t kMiB = 1024 * 1024;

inline std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct MemberOptions {
    std::uint32_t rank = 0;
    std::uint32_t life = 0;
    std::uint64_t seed = 1;
    std::string methods;
    std::string key_file;
    std::string url; ///< of the directory
};

/// Body of the process: its exit code.
int be_member(testing::Channel& director, const MemberOptions& options);
/// Body of the process that serves the directory; says its URL.
int be_directory(testing::Channel& director, const std::string& key_file);

/// What a process holds.
struct Holdings {
    std::uint64_t resident = 0; ///< bytes
    std::uint64_t descriptors = 0;
    std::uint64_t threads = 0;
    std::uint64_t segments = 0; ///< of shared memory that it has mapped

    static Holdings of(pid_t process);
};

} // namespace plexus::soak
