// SPDX-License-Identifier: BSD-3-Clause
#include "shm/doorbell.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/eventfd.h>

namespace plexus::shm {
namespace {

void set_bit(MailboxPage& page, std::uint32_t bit) noexcept {
    const std::uint32_t index = bit / 64;
    const std::uint64_t in_word = std::uint64_t{1} << bit % 64;
    const std::uint64_t in_summary = std::uint64_t{1} << index;
    auto& word = page.words[index];
    if ((word.load(std::memory_order_seq_cst) & in_word) == 0)
        word.fetch_or(in_word, std::memory_order_seq_cst);
    if ((page.summary.load(std::memory_order_seq_cst) & in_summary) == 0)
        page.summary.fetch_or(in_summary, std::memory_order_seq_cst);
}

// Of all who find the sleeper asleep, one writes.
void wake_if_asleep(MailboxPage& page, int event) noexcept {
    if (page.sleeping.load(std::memory_order_seq_cst) == 0) return;
    if (page.sleeping.exchange(0, std::memory_order_seq_cst) == 0) return;
    EventFd::wake(event);
}

bool is_eventfd(int fd) noexcept {
    constexpr std::string_view kTarget = "anon_inode:[eventfd]";
    std::array<char, 32> path{};
    std::array<char, kTarget.size() + 1> target{};
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", fd);
    const ssize_t size = ::readlink(path.data(), target.data(), target.size());
    return size >= 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) == kTarget;
}

// A write to a full one fails then; it is readable all the same.
bool is_nonblocking(int fd) noexcept {
    const int flags = ::fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

} // namespace

bool Mailbox::open() noexcept {
    memory_ = SealedMemory::create("plexus mailbox", kPageBytes, memory_fd_);
    return event_.open() && memory_;
}

void Mailbox::ring(std::uint32_t bit) noexcept { set_bit(page(), bit); }

void Mailbox::clear_event() noexcept { event_.clear(); }

void Mailbox::wake() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    wake_if_asleep(page(), event_.get());
}

bool Doorbell::attach(int memory_fd, UniqueFd event, std::uint32_t bit, const Direction& out,
                      bool light) noexcept {
    if (bit >= MailboxPage::kBits || !is_eventfd(event.get()) || !is_nonblocking(event.get())) {
        errno = EINVAL;
        return false;
    }
    memory_ = SealedMemory::map(memory_fd, kPageBytes, kPageBytes);
    event_ = std::move(event);
    bit_ = bit;
    attention_ = &out.attention;
    light_ = light;
    return static_cast<bool>(memory_);
}

void Doorbell::ring() const noexcept {
    // [ring] The message is visible before the bit is found set by us: pairs with [answer].
    std::atomic_thread_fence(std::memory_order_seq_cst);
    MailboxPage& page = *memory_.at<MailboxPage>(0);
    set_bit(page, bit_);
    wake_if_asleep(page, event_.get());
}

} // namespace plexus::shm
