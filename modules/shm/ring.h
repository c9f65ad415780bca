// SPDX-License-Identifier: BSD-3-Clause
// A ring of cache lines between one writer and one reader, over memory that it does not
// own. A record of up to 56 bytes is one line: payload and turn number travel together, by
// one release store and one acquire load. Longer records take consecutive lines.
//
// What makes a line valid. The reader waits at its position for a word with the lap that
// it is in. Lines that last carried a body, not a word, hold arbitrary bytes, which might
// look like one; so the writer overwrites the word of the line *behind* a record before it
// publishes that record, if the line is suspect (`dirty_until_`). While all records are
// one line long no line is, and this costs a comparison.
//
// Flow. The reader says how far it is only each quarter of the ring. No record is longer
// than a quarter, so with a filler before it at the wrap-around it takes less than half,
// and the three quarters that a reader which has read everything has surely given back suffice.
//
// RingWriter: @thread one (the link's senders, serialised). RingReader: @thread progress.
#pragma once

#include "shm/layout.h"
#include "shm/sanitizer.h"

#include <bit>

namespace plexus::shm {

class RingWriter {
  public:
    /// `count` lines, a power of two, all zero.
    void attach(Line* lines, std::uint32_t count, const std::atomic<std::uint64_t>& consumed) noexcept {
        lines_ = lines;
        count_ = count;
        shift_ = static_cast<std::uint32_t>(std::countr_zero(count));
        consumed_ = &consumed;
        limit_ = count;
    }

    /// Longest body.
    std::uint32_t largest() const noexcept { return count_ / 4 * kLineBytes - sizeof(std::uint64_t); }

    /// Where the body of the next record goes; null: no room. At most largest() bytes.
    std::byte* reserve(std::uint64_t body_bytes) noexcept {
        const std::uint64_t lines = lines_for(body_bytes);
        const std::uint64_t at = position() & (count_ - 1);
        if (at + lines > count_ && !skip_to_start(count_ - at, lines)) [[unlikely]]
            return nullptr;
        const std::uint64_t here = position();
        if (here + lines > limit_ && !refresh(here + lines)) [[unlikely]]
            return nullptr;
        return line(here).body;
    }

    /// Hands over the record whose body was reserved last.
    void publish(Kind kind, std::uint32_t size) noexcept {
        const std::uint64_t here = position();
        const std::uint64_t next = here + lines_for(size);
        if (next < dirty_until_) [[unlikely]]
            clear(next);
        if (size > kLineBody) soil(next);
        will_publish();
        // [publish] pairs with [take] in RingReader::look: who sees this lap sees the body,
        // and the cleared word behind it.
        line(here).word.store(word_of(lap_of(here), kind, size), std::memory_order_release);
        position_.store(next, std::memory_order_relaxed);
    }

    /// The same where the record is one line.
    std::byte* reserve_line() noexcept {
        const std::uint64_t here = position();
        if (here >= limit_ && !refresh(here + 1)) [[unlikely]]
            return nullptr;
        return line(here).body;
    }
    void publish_line(Kind kind, std::uint32_t size) noexcept {
        const std::uint64_t here = position();
        if (here + 1 < dirty_until_) [[unlikely]]
            clear(here + 1);
        will_publish();
        line(here).word.store(word_of(lap_of(here), kind, size), std::memory_order_release); // [publish]
        position_.store(here + 1, std::memory_order_relaxed);
    }

    /// The value of `consumed` from which on reserve() has room for any record.
    std::uint64_t roomy_at() const noexcept {
        const std::uint64_t here = position();
        return here > count_ / 2 ? here - count_ / 2 : 0;
    }

    std::uint32_t lines() const noexcept { return count_; }
    /// Lines written. Any thread.
    std::uint64_t position() const noexcept { return position_.load(std::memory_order_relaxed); }

  private:
    Line& line(std::uint64_t position) const noexcept { return lines_[position & (count_ - 1)]; }
    std::uint32_t lap_of(std::uint64_t position) const noexcept {
        return static_cast<std::uint32_t>(position >> shift_) + 1;
    }
    void soil(std::uint64_t next) noexcept { dirty_until_ = next + count_; }

    // The line at `limit_` needs no clearing: the reader stands there, at a word of the last lap.
    void clear(std::uint64_t at) noexcept {
        if (at < limit_) line(at).word.store(lap_of(at) - 1, std::memory_order_relaxed);
    }

    bool refresh(std::uint64_t wanted) noexcept {
        // Pairs with the store in RingReader::pass: lines given back are no longer read.
        const std::uint64_t consumed = consumed_->load(std::memory_order_acquire);
        // A reader can't be ahead of the writer, or go back: then this is no reader.
        if (consumed > position() || consumed + count_ < limit_) return false;
        limit_ = consumed + count_;
        return wanted <= limit_;
    }

    bool skip_to_start(std::uint64_t skipped, std::uint64_t lines) noexcept {
        const std::uint64_t here = position();
        const std::uint64_t start = here + skipped;
        if (start + lines > limit_ && !refresh(start + lines)) return false;
        soil(start); // the lines passed over; the one at the start never held a body, but always a word
        will_publish();
        line(here).word.store(word_of(lap_of(here), Kind::filler, 0), std::memory_order_release); // [publish]
        position_.store(start, std::memory_order_relaxed);
        return true;
    }

    Line* lines_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t shift_ = 0;
    std::atomic<std::uint64_t> position_{0}; // atomic for enquiries only
    std::uint64_t limit_ = 0;                // lines below this are free or ours
    std::uint64_t dirty_until_ = 0;          // lines below this may hold a body where a word goes
    const std::atomic<std::uint64_t>* consumed_ = nullptr;
};

class RingReader {
  public:
    enum class Look : std::uint8_t { nothing, record, corrupt };
    struct Record {
        std::byte* body;
        std::uint32_t size;
        Kind kind;
    };

    void attach(Line* lines, std::uint32_t count, std::atomic<std::uint64_t>& consumed) noexcept {
        lines_ = lines;
        count_ = count;
        shift_ = static_cast<std::uint32_t>(std::countr_zero(count));
        consumed_ = &consumed;
    }

    bool ready() const noexcept { return lap_in(line().word.load(std::memory_order_acquire)) == lap(); }

    /// The next record. Its body stays as it is until pass().
    Look look(Record& out) noexcept {
        const std::uint64_t word = line().word.load(std::memory_order_acquire); // [take]
        if (lap_in(word) != lap()) return Look::nothing;
        has_taken();
        out = {line().body, size_in(word), kind_in(word)};
        if (out.kind == Kind::message && out.size <= kLineBody) [[likely]]
            return Look::record;
        return look_closer(out);
    }

    /// The last look() found what no writer writes.
    bool corrupt() const noexcept { return corrupt_; }

    /// Gives the record of `size` back. True: the writer may now be told.
    bool pass(std::uint32_t size) noexcept {
        position_ += lines_for(size);
        if (position_ - told_ < count_ / 4) [[likely]]
            return false;
        tell();
        return true;
    }

  private:
    Line& line() const noexcept { return lines_[position_ & (count_ - 1)]; }
    std::uint32_t lap() const noexcept { return static_cast<std::uint32_t>(position_ >> shift_) + 1; }

    void tell() noexcept {
        told_ = position_;
        // seq_cst: the caller looks next whether the writer waits, see Receiver::made_room.
        consumed_->store(position_, std::memory_order_seq_cst);
    }

    Look look_closer(Record& out) noexcept {
        const std::uint64_t left = count_ - (position_ & (count_ - 1));
        if (out.kind == Kind::filler) {
            if (left == count_) return refuse();
            position_ += left;
            return look(out);
        }
        return lines_for(out.size) <= left ? Look::record : refuse();
    }
    Look refuse() noexcept {
        corrupt_ = true;
        return Look::corrupt;
    }

    Line* lines_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t shift_ = 0;
    std::uint64_t position_ = 0;
    std::uint64_t told_ = 0;
    bool corrupt_ = false;
    std::atomic<std::uint64_t>* consumed_ = nullptr;
};

} // namespace plexus::shm
