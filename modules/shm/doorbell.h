// SPDX-License-Identifier: BSD-3-Clause
// How a context learns which of its many links have something for it, without reading each: a bit per link
// in its mailbox, and an eventfd for when it sleeps.
//
// Order on both sides (all sequentially consistent, so that in each pair one side sees the other's store):
//   doorbell  the message, [ring] the link's bit, the summary's bit, then `sleeping`
//   mailbox   `sleeping` = 1, then the summary, then sleep   (arm)
//             summary taken, [answer] word taken, then the link's ring   (take)
// A bit that is set already need not be set again: the owner takes it later, and reads the link's ring after
// that.
#pragma once

#include "base/event_fd.h"
#include "base/sealed_memory.h"
#include "shm/barrier.h"
#include "shm/layout.h"

#include <bit>

namespace plexus::shm {

/// A context's own mailbox. @thread progress, except where a comment says otherwise.
class Mailbox {
  public:
    /// False: errno says why.
    bool open() noexcept;

    int memory_fd() const noexcept { return memory_fd_.get(); }
    int event_fd() const noexcept { return event_.get(); }

    bool rung() const noexcept { return page().summary.load(std::memory_order_relaxed) != 0; }

    /// Clears each bit that is set and calls `answer(bit)`, in the order of the bits' numbers, from `first`
    /// round to the bit before it.
    template <class Answer>
    void take(std::uint32_t first, Answer&& answer) {
        const std::uint64_t words = page().summary.exchange(0, std::memory_order_seq_cst);
        const std::uint32_t first_word = first / 64 % MailboxPage::kWords;
        const std::uint64_t before_first = (std::uint64_t{1} << first % 64) - 1;
        std::uint64_t last = 0; // of the first word, what comes at the end
        for_each_bit(words, first_word, [&](std::uint32_t word) {
            std::uint64_t bits = page().words[word].exchange(0, std::memory_order_seq_cst); // [answer]
            std::atomic_thread_fence(std::memory_order_seq_cst);
            if (word == first_word) {
                last = bits & before_first;
                bits &= ~before_first;
            }
            for_each_bit(bits, 0, [&](std::uint32_t bit) { answer(word * 64 + bit); });
        });
        for_each_bit(last, 0, [&](std::uint32_t bit) { answer(first_word * 64 + bit); });
    }

    /// Sets a bit of this mailbox: its link has more to do.
    void ring(std::uint32_t bit) noexcept;

    /// From now on peers that notify this context write to the eventfd. Look for work *after* the call.
    void fall_asleep() noexcept { page().sleeping.store(1, std::memory_order_seq_cst); }
    void stay_awake() noexcept { page().sleeping.store(0, std::memory_order_seq_cst); }
    /// Empties the eventfd.
    void clear_event() noexcept;
    /// Wakes the poller if it sleeps. Any thread, after the store that the poller must see.
    void wake() noexcept;

  private:
    MailboxPage& page() const noexcept { return *memory_.at<MailboxPage>(0); }

    template <class Do>
    static void for_each_bit(std::uint64_t bits, std::uint32_t first, Do&& act) {
        std::uint64_t turned = std::rotr(bits, static_cast<int>(first % 64));
        for (; turned != 0; turned &= turned - 1)
            act((static_cast<std::uint32_t>(std::countr_zero(turned)) + first) % 64);
    }

    SealedMemory memory_;
    UniqueFd memory_fd_;
    EventFd event_;
};

/// A peer's mailbox, and the bit there that stands for one link. Any thread.
class Doorbell {
  public:
    /// False: errno says why. EINVAL also if `event` is no eventfd: a write into a pipe or a socket could
    /// block the sender, or end its process by SIGPIPE.
    bool attach(int memory_fd, UniqueFd event, std::uint32_t bit, const Direction& out, bool light) noexcept;

    /// Tells the peer that this link has changed, unless the peer reads the link in each poll. Called after
    /// the change has been stored.
    void notify() const noexcept {
        sender_barrier(light_);
        if (attention_->load(std::memory_order_relaxed) != Direction::direct) [[unlikely]]
            ring();
    }

  private:
    void ring() const noexcept;

    const std::atomic<std::uint32_t>* attention_ = nullptr;
    bool light_ = false;
    std::uint32_t bit_ = 0;
    SealedMemory memory_;
    UniqueFd event_;
};

} // namespace plexus::shm
