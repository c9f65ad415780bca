// SPDX-License-Identifier: BSD-3-Clause
// Two small tables that the tests of this room write and read.
#pragma once

#include "counters/area.h"

#include <unistd.h>

namespace plexus::testing {

inline constexpr counters::ColumnSpec kPairColumns[]{
    {"one", CounterKind::count, "A number"},
    {"other", CounterKind::gauge, "The same number"},
};
inline constexpr counters::ColumnSpec kWayColumns[]{
    {"way", CounterKind::text, "A name", 2},
    {"cost_seconds", CounterKind::gauge, "A time", 1, 1000},
};
inline constexpr counters::TableSpec kSomeTables[]{
    {"pair", "Numbers that are always the same", kPairColumns, 1},
    {"way", "Ways", kWayColumns, 3},
};

inline ContextLabel some_label() {
    ContextLabel label;
    for (std::size_t i = 0; i < label.id.bytes.size(); ++i) label.id.bytes[i] = static_cast<std::uint8_t>(i);
    label.process = ::getpid();
    label.program = "tests";
    label.name = "ocean";
    label.job = "job 7";
    label.rank = 3;
    label.size = 8;
    label.started = std::chrono::system_clock::now();
    return label;
}

inline void put_pair(counters::Sample& sample, std::uint64_t number) {
    sample.begin(0);
    if (sample.add_row()) sample.put(number).put(number);
}

} // namespace plexus::testing
