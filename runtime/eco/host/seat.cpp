// SPDX-License-Identifier: BSD-3-Clause
#include "host/seat.h"

#include "host/fetch.h"

#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plexus::eco::host {
namespace {

/// Looks between two turns of idle(): so many cost about what one of those does. Where members share
/// processors, one: whom this one waits for may want it.
constexpr int kLooks = 16;

void breathe() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* most) noexcept {
    return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, most, nullptr, 0);
}

} // namespace

Seat::Seat(std::shared_ptr<Segment> segment, Rank me, Rank members, bool crowded)
  : segment_(std::move(segment))
  , scratch_(new std::byte[kSlot])
  , me_(me)
  , members_(members)
  , crowded_(crowded)
  , head_(*segment_->at<Head>(0))
  , done_(members, 0) {}

void Seat::begin(std::uint32_t digest, Waiting& waiting) noexcept {
    check_ = (check_ ^ digest) * 0x9e3779b97f4a7c15u;
    check_ ^= check_ >> 29;
    waiting_ = &waiting;
}

/// Whatever was given kPosts rounds before is not read any more, in whose slots it was.
void Seat::make_room(std::uint64_t round) {
    if (round <= kPosts) return;
    for (Rank member = 0; member < members_; ++member) {
        if (member == me_ || done_[member] + kPosts >= round) continue;
        const std::atomic<std::uint64_t>& done = corner(member).done;
        wait_for(done, round - kPosts, member);
        done_[member] = done.load(std::memory_order_acquire); // pairs with [done]
    }
}

void Seat::post() noexcept {
    Post& mine = post_of(me_, round_);
    mine.check.store(check_, std::memory_order_relaxed);
    // [post]; and before the sleepers are looked at: see sleep().
    mine.round.store(round_, std::memory_order_seq_cst);
    ring();
}

void Seat::expect(Rank member) {
    if (member == me_) return;
    const Post& post = post_of(member, round_);
    wait_for(post.round, round_, member);
    if (post.check.load(std::memory_order_relaxed) != check_ ||
        post.round.load(std::memory_order_relaxed) != round_)
        throw Differs{member};
    if (done_[member] + 1 < round_) done_[member] = round_ - 1; // or it would not be here
}

void Seat::next(bool met) noexcept {
    std::atomic<std::uint64_t>& done = corner(me_).done;
    if (met) {
        done.store(round_, std::memory_order_release); // [done]
    } else {
        done.store(round_, std::memory_order_seq_cst); // [done]; as in post()
        ring();
    }
    ++round_;
}

void Seat::wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t least, Rank member) {
    const int looks = crowded_ ? 1 : kLooks;
    for (std::uint32_t turn = 0;; ++turn) {
        for (int look = 0; look < looks; ++look) {
            if (word.load(std::memory_order_acquire) >= least) return; // pairs with [post], [done]
            if (looks > 1) breathe();
        }
        awaited_ = &word;
        least_ = least;
        if (!waiting_->idle(member, turn)) throw Stopped{};
    }
}

void Seat::show() noexcept { corner(me_).process = this_process(); }

bool Seat::can_fetch_from_all() {
    processes_.clear();
    bool all = true;
    for (Rank member = 0; member < members_; ++member) {
        processes_.push_back(corner(member).process);
        all = all && (member == me_ || can_fetch(processes_.back()));
    }
    return all;
}

void Seat::fetch(Rank member, std::uint64_t address, std::byte* to, std::size_t bytes) const {
    if (!host::fetch(processes_[member], address, to, bytes)) throw Unreadable{member, errno};
}

void Seat::ring() noexcept {
    if (head_.sleepers.load(std::memory_order_seq_cst) == 0) return;
    head_.bell.fetch_add(1, std::memory_order_seq_cst);
    futex(head_.bell, FUTEX_WAKE, INT_MAX, nullptr);
}

/// Either the poster sees the sleeper, or the sleeper sees the post: both sides first write theirs
/// and then look at the other's, in one total order. A member that is killed here leaves a sleeper
/// behind, which costs the others a call of the system for each post.
void Seat::sleep(std::chrono::nanoseconds most) {
    const timespec time{static_cast<time_t>(most.count() / 1'000'000'000),
                        static_cast<long>(most.count() % 1'000'000'000)};
    head_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t before = head_.bell.load(std::memory_order_seq_cst);
    if (awaited_->load(std::memory_order_seq_cst) < least_) futex(head_.bell, FUTEX_WAIT, before, &time);
    head_.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

} // namespace plexus::eco::host
