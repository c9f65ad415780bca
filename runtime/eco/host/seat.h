// SPDX-License-Identifier: BSD-3-Clause
// One member's place at the common memory of its group: rounds, gifts, waiting for others' gifts.
// All members go through the same rounds in the same order. Knows nothing of operations.
//
// @thread one: the one that is inside a call of the group.
#pragma once

#include "host/segment.h"
#include "plexus/eco/plan.h"

#include <chrono>
#include <vector>

namespace plexus::eco::host {

/// What a member does while it waits.
class Waiting {
  public:
    /// Called again and again, with the number of times before. @return false: give up.
    virtual bool idle(Rank awaited, std::uint32_t turn) = 0;

  protected:
    ~Waiting() = default;
};

/// Thrown where idle() said so.
struct Stopped {};
/// Thrown where a member's memory can't be read.
struct Unreadable {
    Rank member;
    int reason; ///< as errno
};
/// Thrown where a member's gift belongs to another call than this member's.
struct Differs {
    Rank member;
};

class Seat {
  public:
    /// The segment has segment_bytes(members). `crowded`: members share processors.
    Seat(std::shared_ptr<Segment> segment, Rank me, Rank members, bool crowded);

    Rank me() const noexcept { return me_; }
    Rank members() const noexcept { return members_; }
    bool crowded() const noexcept { return crowded_; }
    std::uint64_t round() const noexcept { return round_; }

    /// A call begins. `digest` is the same on all members that call the same.
    void begin(std::uint32_t digest, Waiting& waiting) noexcept;

    /// Where `bytes` bytes of this round's gift go, or of the one that is `ahead` rounds away: waits
    /// until everyone is through with what was there. @error Stopped (thrown)
    std::byte* room(std::size_t bytes, std::uint32_t ahead = 0) {
        make_room(round_ + ahead);
        return place(me_, round_ + ahead, bytes, me_);
    }
    /// The same in a round in which nobody else gives anything: await_only() goes with it.
    std::byte* only_room(std::size_t bytes) {
        make_room(round_);
        return place(me_, round_, bytes, turn());
    }
    /// The gift is there. After room() in the same round.
    void post() noexcept;
    /// `member`'s gift of this round, of so many bytes; until next(). Its own: what room() gave.
    /// @error Stopped, Differs (thrown)
    const std::byte* await(Rank member, std::size_t bytes) {
        expect(member);
        return place(member, round_, bytes, member);
    }
    const std::byte* await_only(Rank member, std::size_t bytes) {
        expect(member);
        return place(member, round_, bytes, turn());
    }
    /// On to the next round. `met`: everyone has posted in this one and seen all others' posts, so
    /// nobody can wait for this.
    void next(bool met = false) noexcept;

    /// Shows this member's process to the others; then, when all have, whether it can read the memory
    /// of all of theirs. Before the first round, with a meeting of all between the two.
    void show() noexcept;
    bool can_fetch_from_all();
    /// All members can: it may be done from now on.
    void allow_fetching() noexcept { may_fetch_ = true; }
    bool may_fetch() const noexcept { return may_fetch_; }
    /// Copies from a member's own memory. That it was there shows when the member posts in a later
    /// round. @error Unreadable (thrown)
    void fetch(Rank member, std::uint64_t address, std::byte* to, std::size_t bytes) const;

    /// kSlot bytes of this member's own.
    std::byte* scratch() noexcept { return scratch_.get(); }

    /// Sleeps until something is posted, or for `most`. For Waiting::idle().
    void sleep(std::chrono::nanoseconds most);

  private:
    Corner& corner(Rank member) const noexcept {
        return *segment_->at<Corner>(kPage + member * sizeof(Corner));
    }
    Post& post_of(Rank member, std::uint64_t round) const noexcept {
        return corner(member).posts[round % kPosts];
    }
    /// Of `giver`'s gift, in the slots of `owner`.
    std::byte* place(Rank giver, std::uint64_t round, std::size_t bytes, Rank owner) const noexcept {
        if (bytes <= kInline) return post_of(giver, round).data;
        return segment_->at<std::byte>(slots_at(members_) + (owner * kPosts + round % kPosts) * kStride);
    }
    Rank turn() const noexcept { return static_cast<Rank>(round_ / kPosts % members_); }
    void make_room(std::uint64_t round);
    void expect(Rank member);
    void wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t least, Rank member);
    void ring() noexcept;

    const std::shared_ptr<Segment> segment_;
    const std::unique_ptr<std::byte[]> scratch_;
    const Rank me_;
    const Rank members_;
    const bool crowded_;
    Head& head_;
    std::uint64_t round_ = 1;
    bool may_fetch_ = false;
    std::vector<Process> processes_; ///< by rank, since can_fetch_from_all()
    std::uint64_t check_ = 1;        ///< of all calls so far
    Waiting* waiting_ = nullptr;
    std::vector<std::uint64_t> done_;                     ///< what is known of each member's `done`
    const std::atomic<std::uint64_t>* awaited_ = nullptr; ///< while wait_for() waits
    std::uint64_t least_ = 0;
};

} // namespace plexus::eco::host
