// SPDX-License-Identifier: BSD-3-Clause
#include "counters/decode.h"

#include "base/log.h"
#include "counters/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace plexus::counters {
namespace {

using Words = std::span<const std::uint64_t>;

constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / sizeof(std::uint64_t); }
#define PLEXUS_HEADER_WORD(field) index_of(offsetof(Header, field))

std::chrono::system_clock::time_point time_of(std::uint64_t nanoseconds) noexcept {
    const auto bounded = static_cast<std::int64_t>(std::min<std::uint64_t>(nanoseconds, INT64_MAX));
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(bounded)));
}

/// True if `count` things of `each` words begin at `first` and end within `words`. All may be anything.
bool fits(Words words, std::uint64_t first, std::uint64_t count, std::uint64_t each) noexcept {
    const std::uint64_t size = words.size();
    return first <= size && (each == 0 || count <= (size - first) / each);
}

bool is_identifier(std::string_view text) noexcept {
    const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
    return !text.empty() && text.size() <= 64 && small(text[0]) &&
           std::all_of(text.begin(), text.end(),
                       [&](char c) { return small(c) || (c >= '0' && c <= '9') || c == '_'; });
}

template <class Part>
Part part_at(Words words, std::uint64_t first) noexcept {
    Part part;
    std::memcpy(&part, &words[first], sizeof part);
    return part;
}

Result<std::string> text_of(Words words, std::uint64_t where) {
    const std::uint64_t first = where >> 32;
    const std::uint64_t bytes = where & UINT32_MAX;
    if (bytes > kMostText || !fits(words, first, (bytes + 7) / 8, 1))
        return fail(Status::bad_archive, "a text lies outside of the memory");
    std::string text(bytes, '\0');
    if (bytes > 0) std::memcpy(text.data(), &words[first], bytes);
    return text;
}

Result<std::string> name_of(Words words, std::uint64_t where) {
    auto name = text_of(words, where);
    if (name && !is_identifier(*name)) return fail(Status::bad_archive, "a name has other characters");
    return name;
}

/// A column, and how many words its values have.
struct Described {
    CounterColumn column;
    std::uint64_t words = 0;
};

Result<Described> column_at(Words words, std::uint64_t first) {
    const auto part = part_at<ColumnWords>(words, first);
    auto name = name_of(words, part.name);
    if (!name) return name.failure();
    auto help = text_of(words, part.help);
    if (!help) return help.failure();
    if (part.kind > static_cast<std::uint64_t>(CounterKind::count) || part.divisor == 0)
        return fail(Status::bad_archive, "the column {} is of no known kind", *name);
    const auto kind = static_cast<CounterKind>(part.kind);
    if (part.words == 0 || part.words > kMostText / 8 || (kind != CounterKind::text && part.words != 1))
        return fail(Status::bad_archive, "the column {} has {} words", *name, part.words);
    return Described{{std::move(*name), std::move(*help), kind, part.divisor}, part.words};
}

CounterValue value_at(Words words, std::uint64_t first, const Described& column) {
    CounterValue value;
    if (column.column.kind != CounterKind::text) {
        value.number = words[first];
        return value;
    }
    const auto* const bytes = reinterpret_cast<const char*>(&words[first]);
    value.text.assign(bytes, ::strnlen(bytes, column.words * sizeof(std::uint64_t)));
    return value;
}

/// `values`: how many may still be made.
Result<CounterTable> table_at(Words words, std::uint64_t first, std::uint64_t& values) {
    const auto part = part_at<TableWords>(words, first);
    auto name = name_of(words, part.name);
    if (!name) return name.failure();
    auto help = text_of(words, part.help);
    if (!help) return help.failure();
    CounterTable table{std::move(*name), std::move(*help), {}, {}, part.left_out};
    const auto broken = [&](const char* what) {
        return fail(Status::bad_archive, "the table {} has {}", table.name, what);
    };
    if (part.column_count == 0 || part.column_count > kMostColumns ||
        !fits(words, part.columns, part.column_count, kColumnWords))
        return broken("columns outside of the memory");
    std::vector<Described> columns;
    std::uint64_t width = 0;
    for (std::uint64_t i = 0; i < part.column_count; ++i) {
        auto column = column_at(words, part.columns + i * kColumnWords);
        if (!column) return column.failure();
        const auto same = [&](const CounterColumn& other) { return other.name == column->column.name; };
        if (std::any_of(table.columns.begin(), table.columns.end(), same))
            return broken("two columns of one name");
        width += column->words;
        table.columns.push_back(column->column);
        columns.push_back(std::move(*column));
    }
    if (width != part.row_words) return broken("rows of another width than its columns");
    if (!fits(words, part.rows, part.capacity, part.row_words) || part.row_count > part.capacity)
        return broken("rows outside of the memory");
    if (part.row_count * part.column_count > values) return broken("rows that are others', too");
    values -= part.row_count * part.column_count;
    for (std::uint64_t row = 0; row < part.row_count; ++row) {
        std::uint64_t at = part.rows + row * part.row_words;
        auto& cells = table.rows.emplace_back();
        cells.reserve(columns.size());
        for (const Described& column : columns) {
            cells.push_back(value_at(words, at, column));
            at += column.words;
        }
    }
    return table;
}

} // namespace

Result<Decoded> decode(Words words) {
    if (words.size() < kHeaderWords || words.size() > kMostBytes / 8 ||
        words[PLEXUS_HEADER_WORD(magic)] != kMagic)
        return fail(Status::bad_archive, "it does not begin as a context's counters do");
    const std::uint64_t version = words[PLEXUS_HEADER_WORD(version)];
    if (version >> 32 != kMajor)
        return fail(Status::unsupported, "its counters have version {}.{}, and version {} is known here",
                    version >> 32, version & UINT32_MAX, kMajor);
    if (words[PLEXUS_HEADER_WORD(words)] != words.size())
        return fail(Status::bad_archive, "it is cut: of {} words {} are there",
                    words[PLEXUS_HEADER_WORD(words)], words.size());
    Decoded decoded;
    ContextLabel& label = decoded.label;
    std::memcpy(label.id.bytes.data(), &words[PLEXUS_HEADER_WORD(label.id_high)], label.id.bytes.size());
    label.process = static_cast<std::int32_t>(
        std::min<std::uint64_t>(words[PLEXUS_HEADER_WORD(label.process)], INT32_MAX));
    label.rank = static_cast<std::uint32_t>(words[PLEXUS_HEADER_WORD(label.rank)]);
    label.size = static_cast<std::uint32_t>(words[PLEXUS_HEADER_WORD(label.size)]);
    label.started = time_of(words[PLEXUS_HEADER_WORD(label.started_at)]);
    decoded.sampled_at = time_of(words[PLEXUS_HEADER_WORD(sampled_at)]);
    const std::pair<std::string*, std::size_t> texts[]{{&label.name, PLEXUS_HEADER_WORD(label.name)},
                                                       {&label.job, PLEXUS_HEADER_WORD(label.job)},
                                                       {&label.program, PLEXUS_HEADER_WORD(label.program)}};
    for (const auto& [text, word] : texts) {
        auto found = text_of(words, words[word]);
        if (!found) return found.failure();
        *text = std::move(*found);
    }
    const std::uint64_t tables = words[PLEXUS_HEADER_WORD(tables)];
    const std::uint64_t count = words[PLEXUS_HEADER_WORD(table_count)];
    if (count > kMostTables || !fits(words, tables, count, kTableWords))
        return fail(Status::bad_archive, "its tables lie outside of the memory");
    std::uint64_t values = words.size();
    for (std::uint64_t i = 0; i < count; ++i) {
        auto table = table_at(words, tables + i * kTableWords, values);
        if (!table) return table.failure();
        for (const CounterTable& other : decoded.tables)
            if (other.name == table->name)
                return fail(Status::bad_archive, "two tables have the name {}", other.name);
        decoded.tables.push_back(std::move(*table));
    }
    return decoded;
}

} // namespace plexus::counters
