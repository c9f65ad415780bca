// SPDX-License-Identifier: BSD-3-Clause
#include "counters/area.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>

namespace plexus::counters {
namespace {

constexpr std::size_t kRowCount = offsetof(TableWords, row_count) / 8;
static_assert(offsetof(TableWords, left_out) / 8 == kRowCount + 1); // see Area::Place

std::uint64_t nanoseconds_of(std::chrono::system_clock::time_point time) noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

/// Not longer than `most` bytes, and no character cut in two.
std::string_view cut(std::string_view text, std::size_t most) noexcept {
    if (text.size() <= most) return text;
    std::size_t size = most;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    return text.substr(0, size);
}

/// What never changes, built as plain words before it is copied to where others see it.
class Image {
  public:
    Image()
      : words_(kHeaderWords) {}

    std::uint64_t add_text(std::string_view text) {
        text = cut(text, kMostText);
        const std::size_t at = extend((text.size() + 7) / 8);
        if (!text.empty()) std::memcpy(&words_[at], text.data(), text.size());
        return text_at(at, text.size());
    }
    /// So many words more; the first.
    std::size_t extend(std::size_t words) {
        const std::size_t at = words_.size();
        words_.insert(words_.end(), words, 0);
        return at;
    }
    template <class Part>
    void put(std::size_t at, const Part& part) {
        std::memcpy(&words_[at], &part, sizeof part);
    }
    const std::vector<std::uint64_t>& words() const noexcept { return words_; }

  private:
    std::vector<std::uint64_t> words_;
};

} // namespace

Result<Area> Area::create(const ContextLabel& label, std::span<const TableSpec> tables) {
    Image image;
    const std::size_t first_table = image.extend(tables.size() * kTableWords);
    std::vector<TableWords> described;
    std::vector<Place> places;
    for (const TableSpec& table : tables) {
        const std::size_t first_column = image.extend(table.columns.size() * kColumnWords);
        std::size_t row_size = 0;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            const ColumnSpec& column = table.columns[i];
            image.put(first_column + i * kColumnWords,
                      ColumnWords{image.add_text(column.name), image.add_text(column.help),
                                  static_cast<std::uint64_t>(column.kind), column.divisor, column.words});
            row_size += column.words;
        }
        described.push_back({image.add_text(table.name), image.add_text(table.help), first_column,
                             table.columns.size(), 0, row_size, table.capacity, 0, 0});
        places.push_back({&table, first_table + places.size() * kTableWords + kRowCount, 0, row_size});
    }
    const std::uint64_t name = image.add_text(label.name);
    const std::uint64_t job = image.add_text(label.job);
    const std::uint64_t program = image.add_text(label.program);

    std::size_t end = image.words().size();
    for (std::size_t i = 0; i < tables.size(); ++i) {
        places[i].rows = described[i].rows = end;
        end += described[i].capacity * described[i].row_words;
        image.put(first_table + i * kTableWords, described[i]);
    }
    auto memory = Memory::create(end);
    if (!memory) return memory.failure();

    constexpr auto kRelaxed = std::memory_order_relaxed; // [ready] orders all of these
    for (std::size_t at = kHeaderWords; at < image.words().size(); ++at)
        memory->word(at).store(image.words()[at], kRelaxed);
    Header& header = memory->header();
    std::uint64_t halves[2];
    std::memcpy(halves, label.id.bytes.data(), sizeof halves);
    header.version.store(std::uint64_t{kMajor} << 32 | kMinor, kRelaxed);
    header.words.store(end, kRelaxed);
    header.label.process.store(static_cast<std::uint64_t>(label.process), kRelaxed);
    header.label.started_at.store(nanoseconds_of(label.started), kRelaxed);
    header.label.id_high.store(halves[0], kRelaxed);
    header.label.id_low.store(halves[1], kRelaxed);
    header.label.rank.store(label.rank, kRelaxed);
    header.label.size.store(label.size, kRelaxed);
    header.label.name.store(name, kRelaxed);
    header.label.job.store(job, kRelaxed);
    header.label.program.store(program, kRelaxed);
    header.tables.store(first_table, kRelaxed);
    header.table_count.store(tables.size(), kRelaxed);
    header.magic.store(kMagic, std::memory_order_release); // [ready]
    return Area(std::move(*memory), std::move(places));
}

// [sample] The fence keeps what follows behind the odd number; the release in ~Sample() keeps it before the
// next even one. A reader that finds the same even number before and after its copy has one whole sample.
Sample::Sample(Area& area) noexcept
  : area_(area) {
    Word& sequence = area_.header().sequence;
    sequence.store(sequence.load(std::memory_order_relaxed) | 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
}

Sample::~Sample() {
    end();
    Header& header = area_.header();
    header.sampled_at.store(nanoseconds_of(std::chrono::system_clock::now()), std::memory_order_relaxed);
    const std::uint64_t odd = header.sequence.load(std::memory_order_relaxed) | 1;
    header.sequence.store(odd + 1, std::memory_order_release); // [sample]
}

void Sample::begin(std::size_t table) noexcept {
    end();
    table_ = &area_.places_[table];
    row_count_ = left_out_ = 0;
}

void Sample::end() noexcept {
    if (table_ == nullptr) return;
    area_.memory_.word(table_->counts).store(row_count_, std::memory_order_relaxed);
    area_.memory_.word(table_->counts + 1).store(left_out_, std::memory_order_relaxed);
}

bool Sample::add_row() noexcept {
    if (row_count_ == table_->spec->capacity) {
        ++left_out_;
        return false;
    }
    word_ = table_->rows + row_count_++ * table_->row_size;
    column_ = 0;
    return true;
}

Sample& Sample::put(std::uint64_t number) noexcept {
    assert(column_ < table_->spec->columns.size());
    assert(table_->spec->columns[column_].kind != CounterKind::text);
    area_.memory_.word(word_).store(number, std::memory_order_relaxed);
    ++column_;
    ++word_;
    return *this;
}

Sample& Sample::put(std::string_view text) noexcept {
    assert(column_ < table_->spec->columns.size());
    const ColumnSpec& column = table_->spec->columns[column_];
    assert(column.kind == CounterKind::text);
    text = cut(text, column.words * sizeof(Word));
    for (std::uint32_t i = 0; i < column.words; ++i) {
        std::uint64_t word = 0;
        const std::string_view part = text.substr(std::min<std::size_t>(text.size(), i * sizeof word));
        std::memcpy(&word, part.data(), std::min(part.size(), sizeof word));
        area_.memory_.word(word_ + i).store(word, std::memory_order_relaxed);
    }
    ++column_;
    word_ += column.words;
    return *this;
}

} // namespace plexus::counters
