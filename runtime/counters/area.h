// SPDX-License-Identifier: BSD-3-Clause
// The writer's side: lays out tables that are described in data, and fills in their rows, sample by sample.
// One thread writes; it trusts nothing that it reads from the memory, which all processes of the user may
// write to.
#pragma once

#include "counters/memory.h"
#include "plexus/counters.h"

#include <span>
#include <string_view>
#include <vector>

namespace plexus::counters {

struct ColumnSpec {
    const char* name;
    CounterKind kind;
    const char* help;
    std::uint32_t words = 1; ///< of a text; longer ones are cut
    std::uint64_t divisor = 1;
};

struct TableSpec {
    const char* name;
    const char* help;
    std::span<const ColumnSpec> columns;
    std::size_t capacity; ///< rows
};

class Area {
  public:
    /// `tables` stay as they are for as long as the area lives. @error runtime_lost what the system says
    static Result<Area> create(const ContextLabel& label, std::span<const TableSpec> tables);

    Header& header() const noexcept { return memory_.header(); }
    const Memory& memory() const noexcept { return memory_; }

  private:
    friend class Sample;
    struct Place {
        const TableSpec* spec;
        std::size_t counts;   ///< the word of its row_count; the next is left_out
        std::size_t rows;     ///< the word of its first row
        std::size_t row_size; ///< words
    };
    Area(Memory memory, std::vector<Place> places) noexcept
      : memory_(std::move(memory))
      , places_(std::move(places)) {}

    Memory memory_;
    std::vector<Place> places_;
};

/// The rows of all tables, written anew. Each table's rows follow one another; what is not put is as before.
class Sample {
  public:
    explicit Sample(Area& area) noexcept;
    ~Sample();
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;

    /// Rows of this table follow.
    void begin(std::size_t table) noexcept;
    /// The next row. False: there is no room for it; it is counted.
    bool add_row() noexcept;
    /// The next column of the row.
    Sample& put(std::uint64_t number) noexcept;
    Sample& put(std::string_view text) noexcept;

  private:
    void end() noexcept;

    Area& area_;
    const Area::Place* table_ = nullptr;
    std::size_t row_count_ = 0;
    std::size_t left_out_ = 0;
    std::size_t column_ = 0;
    std::size_t word_ = 0; ///< where the column's value begins
};

} // namespace plexus::counters
