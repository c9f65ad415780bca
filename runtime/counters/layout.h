// SPDX-License-Identifier: BSD-3-Clause
// The memory in which a context shows its counters to other processes of its user: words of 64 bits in the
// machine's own byte order. A header; texts; tables and their columns, described in words of their own; rows.
// What a reader finds is described, so that it shows counters which it has never heard of.
//
// A new major version: readers of the old one can't read it. A new minor version adds to the header's end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plexus::counters {

inline constexpr char kLabel[] = "plexus-counters"; ///< the name of the memory in /proc/PID/fd
inline constexpr std::uint64_t kMagic = 0x73746e756f637870;
inline constexpr std::uint32_t kMajor = 1;
inline constexpr std::uint32_t kMinor = 0;

inline constexpr std::size_t kMostBytes = std::size_t{4} << 20; ///< larger memory is not read
inline constexpr std::size_t kMostText = 4096;                  ///< bytes
inline constexpr std::size_t kMostTables = 16;
inline constexpr std::size_t kMostColumns = 64;

using Word = std::atomic<std::uint64_t>;
static_assert(sizeof(Word) == 8 && Word::is_always_lock_free);

/// Who the context is.
struct LabelWords {
    Word process;
    Word started_at;
    Word id_high;
    Word id_low;
    Word rank;
    Word size;
    Word name;
    Word job;
    Word program;
};

/// The context writes all of it except `asked`. A text is named by its first word and its bytes:
/// see text_at(). Times are nanoseconds of CLOCK_REALTIME.
struct Header {
    Word magic; // [ready] stored last: whoever sees it sees all that never changes
    Word version;
    Word words; ///< of the whole memory
    // [ask] a reader adds one and wakes the context; [answer] the context stores the number that it saw
    // before it read its counters, and wakes readers. Both are futexes.
    std::atomic<std::uint32_t> asked;
    std::atomic<std::uint32_t> answered;
    Word sequence; // [sample] odd while rows are written: see Sample
    Word sampled_at;
    LabelWords label;
    Word tables; ///< the first word of the first TableWords
    Word table_count;
};
inline constexpr std::size_t kHeaderWords = sizeof(Header) / sizeof(Word);

/// One table.
struct TableWords {
    std::uint64_t name;
    std::uint64_t help;
    std::uint64_t columns; ///< the first word of the first ColumnWords
    std::uint64_t column_count;
    std::uint64_t rows; ///< the first word of the first row
    std::uint64_t row_words;
    std::uint64_t capacity;  ///< rows that there is room for
    std::uint64_t row_count; ///< changes with each sample
    std::uint64_t left_out;  ///< rows that found no room; changes with each sample
};
inline constexpr std::size_t kTableWords = sizeof(TableWords) / 8;

/// One column. A text is filled up with zeros; a number divided by `divisor` is in the unit that its name
/// says.
struct ColumnWords {
    std::uint64_t name;
    std::uint64_t help;
    std::uint64_t kind; ///< of enum CounterKind
    std::uint64_t divisor;
    std::uint64_t words;
};
inline constexpr std::size_t kColumnWords = sizeof(ColumnWords) / 8;

constexpr std::uint64_t text_at(std::size_t first_word, std::size_t bytes) noexcept {
    return static_cast<std::uint64_t>(first_word) << 32 | bytes;
}

} // namespace plexus::counters
