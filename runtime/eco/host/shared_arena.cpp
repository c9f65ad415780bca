// SPDX-License-Identifier: BSD-3-Clause
#include "host/shared_arena.h"

#include "base/pause.h"

#include "host/fetch.h"

#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plexus::eco::host {
namespace {

/// Polls of a word between two calls of idle(): together they cost about as much as one call.
constexpr int kPolls = 16;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* most) noexcept {
    return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, most, nullptr, 0);
}

} // namespace

SharedArena::SharedArena(std::shared_ptr<SharedMemory> memory, Rank me, Rank members, bool crowded)
  : memory_(std::move(memory))
  , scratch_(new std::byte[kSlotBytes])
  , me_(me)
  , members_(members)
  , crowded_(crowded)
  , header_(*memory_->at<ArenaHeader>(0))
  , done_(members, 0) {}

void SharedArena::begin(std::uint32_t digest, WaitPolicy& policy) noexcept {
    digest_ = (digest_ ^ digest) * 0x9e3779b97f4a7c15u;
    digest_ ^= digest_ >> 29;
    policy_ = &policy;
}

/// Data that was published kSlots rounds before is not read any more, whichever member's slots it used.
void SharedArena::wait_until_free(std::uint64_t round) {
    if (round <= kSlots) return;
    for (Rank member = 0; member < members_; ++member) {
        if (member == me_ || done_[member] + kSlots >= round) continue;
        const std::atomic<std::uint64_t>& done = page(member).done;
        wait_for(done, round - kSlots, member);
        done_[member] = done.load(std::memory_order_acquire); // pairs with [done]
    }
}

void SharedArena::publish() noexcept {
    SlotHeader& mine = header_of(me_, round_);
    mine.digest.store(digest_, std::memory_order_relaxed);
    // [published]; ordered before the load of `sleepers`: see sleep().
    mine.round.store(round_, std::memory_order_seq_cst);
    wake_sleepers();
}

void SharedArena::expect(Rank member) {
    if (member == me_) return;
    const SlotHeader& header = header_of(member, round_);
    wait_for(header.round, round_, member);
    if (header.digest.load(std::memory_order_relaxed) != digest_ ||
        header.round.load(std::memory_order_relaxed) != round_)
        throw CallMismatch{member};
    if (done_[member] + 1 < round_) done_[member] = round_ - 1; // it has finished all rounds before this one
}

void SharedArena::next_round(bool all_met) noexcept {
    std::atomic<std::uint64_t>& done = page(me_).done;
    if (all_met) {
        done.store(round_, std::memory_order_release); // [done]
    } else {
        done.store(round_, std::memory_order_seq_cst); // [done]; ordered as in publish()
        wake_sleepers();
    }
    ++round_;
}

void SharedArena::wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t least, Rank member) {
    // If members share processors, the awaited member may need this one: poll once.
    const int polls = crowded_ ? 1 : kPolls;
    for (std::uint32_t turn = 0;; ++turn) {
        for (int poll = 0; poll < polls; ++poll) {
            if (word.load(std::memory_order_acquire) >= least) return; // pairs with [published], [done]
            if (polls > 1) relax();
        }
        wait_ = {&word, least};
        if (!policy_->idle(member, turn)) throw Aborted{};
    }
}

void SharedArena::announce_process() noexcept { page(me_).process = this_process(); }

bool SharedArena::can_fetch_from_all() {
    processes_.clear();
    bool all = true;
    for (Rank member = 0; member < members_; ++member) {
        processes_.push_back(page(member).process);
        all = all && (member == me_ || can_fetch(processes_.back()));
    }
    return all;
}

void SharedArena::fetch(Rank member, std::uint64_t address, std::byte* to, std::size_t bytes) const {
    if (!host::fetch(processes_[member], address, to, bytes)) throw Unreadable{member, errno};
}

void SharedArena::wake_sleepers() noexcept {
    if (header_.sleepers.load(std::memory_order_seq_cst) == 0) return;
    header_.wakeups.fetch_add(1, std::memory_order_seq_cst);
    futex(header_.wakeups, FUTEX_WAKE, INT_MAX, nullptr);
}

/// Publisher and sleeper each store first and then load what the other stored, in one total order:
/// at least one of them sees the other. A member that is killed here leaves `sleepers` too high, which
/// costs the others one system call for each publish().
void SharedArena::sleep(std::chrono::nanoseconds most) {
    const timespec time{static_cast<time_t>(most.count() / 1'000'000'000),
                        static_cast<long>(most.count() % 1'000'000'000)};
    header_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t before = header_.wakeups.load(std::memory_order_seq_cst);
    if (wait_.word->load(std::memory_order_seq_cst) < wait_.least)
        futex(header_.wakeups, FUTEX_WAIT, before, &time);
    header_.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

} // namespace plexus::eco::host
