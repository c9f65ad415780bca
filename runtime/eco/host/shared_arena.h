// SPDX-License-Identifier: BSD-3-Clause
// A member's access to the memory that its group shares: rounds, publishing data, waiting for the data
// of other members. All members go through the same rounds in the same order. Independent of operations.
//
// @thread one: the thread that executes a call of the group.
#pragma once

#include "host/shared_memory.h"
#include "plexus/eco/plan.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace plexus::eco::host {

/// What a member does while it waits.
class WaitPolicy {
  public:
    /// Called repeatedly, with the number of calls before in this wait. @return false: abort the wait.
    virtual bool idle(Rank awaited, std::uint32_t turn) = 0;

  protected:
    ~WaitPolicy() = default;
};

/// Thrown if idle() returned false.
struct Aborted {};
/// Thrown if the memory of a member cannot be read.
struct Unreadable {
    Rank member;
    int reason; ///< as errno
};
/// Thrown if the data that a member published belongs to another call.
struct CallMismatch {
    Rank member;
};

class SharedArena {
  public:
    /// `memory` has arena_bytes(members). `crowded`: members share processors.
    SharedArena(std::shared_ptr<SharedMemory> memory, Rank me, Rank members, bool crowded);

    Rank me() const noexcept { return me_; }
    Rank members() const noexcept { return members_; }
    bool crowded() const noexcept { return crowded_; }
    std::uint64_t round() const noexcept { return round_; }

    /// A call begins. `digest` is equal on all members that call the same operation.
    void begin(std::uint32_t digest, WaitPolicy& policy) noexcept;

    /// Room for `bytes` bytes in this member's slot of this round, or of the round `ahead` rounds later.
    /// Waits until no member reads the previous content. @error Aborted (thrown)
    std::byte* reserve(std::size_t bytes, std::uint32_t ahead = 0) {
        wait_until_free(round_ + ahead);
        return place(me_, round_ + ahead, bytes, me_);
    }
    /// The same in a round in which no other member publishes. Readers use await_single().
    std::byte* reserve_single(std::size_t bytes) {
        wait_until_free(round_);
        return place(me_, round_, bytes, slot_owner());
    }
    /// Publishes what was written. After reserve() in the same round.
    void publish() noexcept;
    /// The `bytes` bytes that `member` published in this round; valid until next_round(). For this member
    /// itself: what reserve() returned. @error Aborted, CallMismatch (thrown)
    const std::byte* await(Rank member, std::size_t bytes) {
        expect(member);
        return place(member, round_, bytes, member);
    }
    const std::byte* await_single(Rank member, std::size_t bytes) {
        expect(member);
        return place(member, round_, bytes, slot_owner());
    }
    /// Proceeds to the next round. `all_met`: every member has published in this round and has seen what all
    /// others published, so no member can be waiting for this step.
    void next_round(bool all_met = false) noexcept;

    /// Publishes this member's process, and finds out whether this member can read the memory of all other
    /// processes. Before the first round, with a barrier between the two.
    void announce_process() noexcept;
    bool can_fetch_from_all();
    /// All members can: permitted from now on.
    void allow_fetching() noexcept { may_fetch_ = true; }
    bool may_fetch() const noexcept { return may_fetch_; }
    /// Copies from the memory of another member's process. The read was valid if that member publishes in a
    /// later round. @error Unreadable (thrown)
    void fetch(Rank member, std::uint64_t address, std::byte* to, std::size_t bytes) const;

    /// kSlotBytes bytes of private memory.
    std::byte* scratch() noexcept { return scratch_.get(); }

    /// Sleeps until an event that any member may wait for, at most for `most`. For WaitPolicy::idle().
    void sleep(std::chrono::nanoseconds most);

  private:
    MemberPage& page(Rank member) const noexcept {
        return *memory_->at<MemberPage>(kPage + member * sizeof(MemberPage));
    }
    SlotHeader& header_of(Rank member, std::uint64_t round) const noexcept {
        return page(member).slots[round % kSlots];
    }
    /// Where `publisher`'s data of a round is, if it uses the slots of `owner`.
    std::byte* place(Rank publisher, std::uint64_t round, std::size_t bytes, Rank owner) const noexcept {
        if (bytes <= kInline) return header_of(publisher, round).data;
        return memory_->at<std::byte>(slots_offset(members_) +
                                      (owner * kSlots + round % kSlots) * kSlotStride);
    }
    Rank slot_owner() const noexcept {
        return static_cast<Rank>(round_ / kSlots % std::min(members_, kMostOwners));
    }
    void wait_until_free(std::uint64_t round);
    void expect(Rank member);
    void wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t least, Rank member);
    void wake_sleepers() noexcept;

    /// The wait that is under way: for a word to reach a value.
    struct Wait {
        const std::atomic<std::uint64_t>* word = nullptr;
        std::uint64_t least = 0;
    };

    const std::shared_ptr<SharedMemory> memory_;
    const std::unique_ptr<std::byte[]> scratch_;
    const Rank me_;
    const Rank members_;
    const bool crowded_;
    ArenaHeader& header_;
    std::uint64_t round_ = 1;
    bool may_fetch_ = false;
    std::uint64_t digest_ = 1; ///< of all calls so far
    WaitPolicy* policy_ = nullptr;
    std::vector<std::uint64_t> done_; ///< by rank: the last value seen of MemberPage::done
    std::vector<Process> processes_;  ///< by rank, since can_fetch_from_all()
    Wait wait_;
};

} // namespace plexus::eco::host
