// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/page.h"

#include "base/process_watch.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace plexus::libfabric {
namespace {

std::string path_of(std::uint32_t process, std::uint32_t fd) {
    return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(fd);
}

} // namespace

int Page::open(const plexus_host& host) {
    memory_ = SealedMemory::create("plexus libfabric", PageLayout::kBytes, memory_fd_);
    if (!memory_) return errno;
    page_ = new (memory_.data()) PageLayout{};
    host.random(host.self, page_->cookie.data(), page_->cookie.size());
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
    ring_.reset(ends[0]);
    rung_.reset(ends[1]);
    return 0;
}

PageAddress Page::address() const noexcept {
    return {static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(memory_fd_.get()),
            static_cast<std::uint32_t>(rung_.get()), page_->cookie};
}

void Page::announce_sleep(bool yes) noexcept {
    page_->armed.store(yes ? 1 : 0, std::memory_order_seq_cst); // [armed]
    if (yes) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Page::silence() noexcept {
    std::array<char, 256> rings;
    while (::read(ring_.get(), rings.data(), rings.size()) == static_cast<ssize_t>(rings.size())) {}
}

std::uint32_t Page::revision(std::uint32_t slot) const noexcept {
    return page_->revisions[slot % PageLayout::kRevisions].load(std::memory_order_relaxed); // [revision]
}

void Page::revise(std::uint32_t slot) noexcept {
    page_->revisions[slot % PageLayout::kRevisions].fetch_add(1, std::memory_order_seq_cst); // [revision]
}

bool PeerPage::open(const PageAddress& address, bool same_numbers) {
    if (address.process == 0 || address.process > INT32_MAX) return false;
    // First the process, then its page: if the page is the right one, the process was alive then.
    process_ = process_numbered(static_cast<pid_t>(address.process));
    const bool no_such = !process_ && errno == ESRCH;
    gone_ = no_such && same_numbers;
    if (!process_) return false;
    if (read(address)) return true;
    if (!same_numbers) process_.reset(); // another's, for all one knows
    return false;
}

bool PeerPage::read(const PageAddress& address) {
    const UniqueFd memory(
        ::open(path_of(address.process, address.page).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    SealedMemory mapped =
        SealedMemory::map(memory.get(), PageLayout::kBytes, PageLayout::kBytes, SealedMemory::Access::read);
    if (!mapped) return false;
    const auto* const page = mapped.at<const PageLayout>(0);
    if (page->cookie == address.cookie) {
        // For reading as well: so the pipe never breaks, and no signal comes when its owner ends.
        ring_.reset(::open(path_of(address.process, address.ring).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
        struct stat ring {};
        if (ring_ && ::fstat(ring_.get(), &ring) == 0 && S_ISFIFO(ring.st_mode)) {
            memory_ = std::move(mapped);
            page_ = page;
            return true;
        }
        ring_.reset();
    }
    return false;
}

bool PeerPage::process_ended() const noexcept { return process_ && has_ended(process_.get()); }

void PeerPage::ring() const noexcept {
    if (page_ == nullptr) return;
    std::atomic_thread_fence(std::memory_order_seq_cst); // [armed]
    if (page_->armed.load(std::memory_order_relaxed) == 0) return;
    const char byte = 1;
    (void)!::write(ring_.get(), &byte, 1); // a full pipe has woken it already
}

std::uint32_t PeerPage::revision(std::uint32_t slot) const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return page_->revisions[slot % PageLayout::kRevisions].load(std::memory_order_acquire); // [revision]
}

} // namespace plexus::libfabric
