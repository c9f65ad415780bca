// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/page.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace plexus::libfabric {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW; // a reader can't be made to fault

std::string path_of(std::uint32_t process, std::uint32_t fd) {
    return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(fd);
}

} // namespace

Page::~Page() {
    if (page_ != nullptr) (void)::munmap(page_, PageLayout::kBytes);
}

int Page::open(const plexus_host& host) {
    memory_.reset(::memfd_create("plexus libfabric", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memory_ || ::ftruncate(memory_.get(), PageLayout::kBytes) != 0 ||
        ::fcntl(memory_.get(), F_ADD_SEALS, kSeals) != 0)
        return errno;
    void* const at =
        ::mmap(nullptr, PageLayout::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
    if (at == MAP_FAILED) return errno;
    page_ = new (at) PageLayout{};
    host.random(host.self, page_->cookie.data(), page_->cookie.size());
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
    ring_.reset(ends[0]);
    rung_.reset(ends[1]);
    return 0;
}

PageAddress Page::address() const noexcept {
    return {static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(memory_.get()),
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

PeerPage::~PeerPage() {
    if (page_ != nullptr) (void)::munmap(const_cast<PageLayout*>(page_), PageLayout::kBytes);
}

bool PeerPage::open(const PageAddress& address, bool same_numbers) {
    if (address.process == 0 || address.process > INT32_MAX) return false;
    // First the process, then its page: if the page is the right one, the process was alive then.
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(address.process), 0)));
    const bool no_such = !process_ && errno == ESRCH;
    gone_ = no_such && same_numbers;
    if (!process_) return false;
    if (read(address)) return true;
    if (!same_numbers) process_.reset(); // another's, for all one knows
    return false;
}

bool PeerPage::read(const PageAddress& address) {
    const module::OwnedFd memory(
        ::open(path_of(address.process, address.page).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat about {};
    if (!memory || ::fstat(memory.get(), &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size != static_cast<off_t>(PageLayout::kBytes) ||
        (::fcntl(memory.get(), F_GET_SEALS) & kSeals) != kSeals)
        return false;
    void* const at = ::mmap(nullptr, PageLayout::kBytes, PROT_READ, MAP_SHARED, memory.get(), 0);
    if (at == MAP_FAILED) return false;
    const auto* const page = static_cast<const PageLayout*>(at);
    if (page->cookie == address.cookie) {
        // For reading as well: so the pipe never breaks, and no signal comes when its owner ends.
        ring_.reset(::open(path_of(address.process, address.ring).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
        struct stat ring {};
        if (ring_ && ::fstat(ring_.get(), &ring) == 0 && S_ISFIFO(ring.st_mode)) {
            page_ = page;
            return true;
        }
        ring_.reset();
    }
    (void)::munmap(at, PageLayout::kBytes);
    return false;
}

bool PeerPage::process_ended() const noexcept {
    pollfd one{process_.get(), POLLIN, 0};
    return process_ && ::poll(&one, 1, 0) > 0;
}

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
