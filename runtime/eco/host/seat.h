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
/// Thrown where a member's gift belongs to another call than this member's.
struct Differs {
    Rank member;
};

class Seat {
  public:
    /// The segment has segment_bytes(members).
    Seat(std::shared_ptr<Segment> segment, Rank me, Rank members);

    Rank me() const noexcept { return me_; }
    Rank members() const noexcept { return members_; }
    std::uint64_t round() const noexcept { return round_; }

    /// A call begins. `digest` is the same on all members that call the same.
    void begin(std::uint32_t digest, Waiting& waiting) noexcept;

    /// Where `bytes` bytes of this round's gift go, or of the one that is `ahead` rounds away: waits
    /// until everyone is through with what was there. @error Stopped (thrown)
    std::byte* room(std::size_t bytes, std::uint32_t ahead = 0);
    /// The gift is there. After room() in the same round.
    void post() noexcept;
    /// `member`'s gift of this round, of so many bytes; until next(). Its own: what room() gave.
    /// @error Stopped, Differs (thrown)
    const std::byte* await(Rank member, std::size_t bytes);
    /// On to the next round. `met`: everyone has posted in this one and seen all others' posts, so
    /// nobody can wait for this.
    void next(bool met = false) noexcept;

    /// Sleeps until something is posted, or for `most`. For Waiting::idle().
    void sleep(std::chrono::nanoseconds most);

  private:
    Corner& corner(Rank member) const noexcept {
        return *segment_->at<Corner>(kPage + member * sizeof(Corner));
    }
    Post& post_of(Rank member, std::uint64_t round) const noexcept {
        return corner(member).posts[round % kPosts];
    }
    std::byte* place(Rank member, std::uint64_t round, std::size_t bytes) const noexcept {
        if (bytes <= kInline) return post_of(member, round).data;
        return segment_->at<std::byte>(slots_at(members_) + (member * kPosts + round % kPosts) * kSlot);
    }
    void wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t least, Rank member);
    void ring() noexcept;

    const std::shared_ptr<Segment> segment_;
    const Rank me_;
    const Rank members_;
    Head& head_;
    std::uint64_t round_ = 1;
    std::uint64_t check_ = 1; ///< of all calls so far
    Waiting* waiting_ = nullptr;
    std::vector<std::uint64_t> done_;                     ///< what is known of each member's `done`
    const std::atomic<std::uint64_t>* awaited_ = nullptr; ///< while wait_for() waits
    std::uint64_t least_ = 0;
};

} // namespace plexus::eco::host
