// SPDX-License-Identifier: BSD-3-Clause
// The object that the tests of this room send to, with what it understands: the same in the
// test's process and in another. Handlers run inline, one at a time.
#pragma once

#include "plexus/plexus.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace plexus::testing {

inline constexpr std::uint32_t kSenders = 2;

struct Log {
    std::vector<std::uint32_t> next = std::vector<std::uint32_t>(kSenders);
    std::uint32_t wrong = 0;
};

/// Every byte of a load depends on sender and number, so that one that came twice, too late
/// or with another's bytes is noticed.
inline std::byte mark_of(std::uint32_t sender, std::uint32_t number) {
    return static_cast<std::byte>(number * kSenders + sender);
}

using Load = std::span<const std::byte>;

inline constexpr Request<void(Log&, std::uint32_t, std::uint32_t, Load)> append{"multimethod.append"};
/// The same with an answer: the number.
inline constexpr Request<std::uint32_t(Log&, std::uint32_t, std::uint32_t, Load)> append_call{
    "multimethod.append_call"};
inline constexpr Request<std::vector<std::uint32_t>(Log&)> seen{"multimethod.seen"};
inline constexpr Request<std::uint32_t(Log&)> wrong{"multimethod.wrong"};
/// Processor time of the process, in nanoseconds.
inline constexpr Request<std::int64_t(Log&)> processor_ns{"multimethod.processor_ns"};
/// Understood by the other process only.
inline constexpr Request<void(Log&)> finish_process{"multimethod.finish_process"};

/// The same: writes over all of the memory, several times at once, until the process is killed.
inline constexpr Request<void(Log&, GlobalSpan<std::uint64_t>, std::string)> write_for_ever{
    "multimethod.write_for_ever"};
/// How often that has been done.
inline constexpr Request<std::uint64_t(Log&)> times_written{"multimethod.times_written"};

inline std::int64_t processor_time_ns() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto ns = [](const timeval& time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
    };
    return ns(used.ru_utime) + ns(used.ru_stime);
}

inline void note(Log& log, std::uint32_t sender, std::uint32_t number, Load load) {
    const std::byte mark = mark_of(sender, number);
    const bool whole = std::all_of(load.begin(), load.end(), [&](std::byte each) { return each == mark; });
    if (!whole || number != log.next[sender]) ++log.wrong;
    log.next[sender] = number + 1;
}

inline void install(Context& here) {
    here.on(append, note);
    here.on(append_call, [](Log& log, std::uint32_t sender, std::uint32_t number, Load load) {
        note(log, sender, number, load);
        return number;
    });
    here.on(seen, [](Log& log) { return log.next; });
    here.on(wrong, [](Log& log) { return log.wrong; });
    here.on(processor_ns, [](Log&) { return processor_time_ns(); });
}

} // namespace plexus::testing
