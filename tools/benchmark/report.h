// SPDX-License-Identifier: BSD-3-Clause
// What was measured, and how it is printed: a table, or one JSON object a line.
#pragma once

#include "tools/benchmark/options.h"

#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::benchmark {

/// One way, in microseconds. `mean` is the mean of the best round; the percentiles are of single messages in
/// a round of their own.
struct OneWay {
    std::optional<double> mean;
    std::optional<double> p50;
    std::optional<double> p99;
};

struct Row {
    Kind kind = Kind::latency;
    std::string methods; ///< that were loaded, in order
    std::string used;
    std::uint64_t size_bytes = 0;
    std::uint64_t iterations = 0;
    std::uint32_t threads = 1;
    std::uint32_t buffers = 1;
    std::optional<OneWay> one_way;
    double bytes_per_s = 0;
    double messages_per_s = 0;
    SkipPoll skip_poll; ///< of `used`; of `slow` in a dual measurement
    // dual and idle
    std::string dual_case;             ///< "alone", "silent", "both"
    std::string slow;                  ///< idle: all others, with commas between
    std::optional<double> times_alone; ///< idle, silent: median over pairs of neighbouring rounds
    std::optional<OneWay> slow_one_way;

    /// The method that skip_poll is of is polled.
    bool has_skip_poll() const noexcept { return kind != Kind::idle && dual_case != "alone"; }
};

std::string show(SkipPoll skip_poll);
/// "3.142", "31.4", "3142"; "-" for nothing.
std::string show_us(std::optional<double> us);
std::string to_json(const Row& row);
/// A table of rows of one kind.
void print(const std::vector<Row>& rows);

} // namespace plexus::tools::benchmark
