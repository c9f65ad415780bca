// SPDX-License-Identifier: BSD-3-Clause
// One page of shared memory for each context, which other processes of its user on this host may read. The
// page and a descriptor of the process show three things that a provider does not: that the context sleeps
// and wants to be woken, whether memory that it offered for reading is unchanged, and that it has died.
//
// A peer opens the page and the wake-up pipe through /proc, by numbers from the descriptor, and trusts them
// if the page holds the cookie that the descriptor names. If that fails (another host, another user, a
// container of its own) the method works without the page.
#pragma once

#include "base/sealed_memory.h"
#include "base/unique_fd.h"
#include "libfabric/descriptor.h"

#include <atomic>

namespace plexus::libfabric {

struct PageLayout {
    static constexpr std::size_t kBytes = 4096;
    static constexpr std::size_t kRevisions = 512;

    std::array<std::uint8_t, 16> cookie;
    // [armed] Set before the owner looks for work for the last time, read after a message is
    // out: one of the two sees the other. Both sides have a full fence between.
    alignas(64) std::atomic<std::uint32_t> armed;
    // [revision] Raised before memory that was offered is given back; read after it was read.
    alignas(64) std::array<std::atomic<std::uint32_t>, kRevisions> revisions;
};
static_assert(sizeof(PageLayout) <= PageLayout::kBytes);

/// The own one.
class Page {
  public:
    Page() = default;
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;

    /// Errno, or 0. @thread setup
    int open(const plexus_host& host);
    PageAddress address() const noexcept;
    int ring_fd() const noexcept { return ring_.get(); }

    // @thread progress
    void announce_sleep(bool yes) noexcept;
    void silence() noexcept; ///< takes what was rung

    /// What readers of memory offered by this slot compare. @thread any
    std::uint32_t revision(std::uint32_t slot) const noexcept;
    void revise(std::uint32_t slot) noexcept;

  private:
    UniqueFd memory_fd_;
    SealedMemory memory_;
    UniqueFd ring_;
    UniqueFd rung_;              // the end that peers write to
    PageLayout* page_ = nullptr; // in it
};

/// Another context's. Nothing in it is believed to be in bounds.
class PeerPage {
  public:
    PeerPage() = default;
    PeerPage(const PeerPage&) = delete;
    PeerPage& operator=(const PeerPage&) = delete;

    /// True: the peer is on this host, and the rest works. Does not block. A page of a process
    /// that is just ending can't be read any more, though the process may still be watched.
    /// `same_numbers`: processes have the same numbers for the peer as here.
    bool open(const PageAddress& address, bool same_numbers);
    bool is_open() const noexcept { return page_ != nullptr; }
    /// open() found that its process has ended. False: that is not known.
    bool is_gone() const noexcept { return gone_; }
    /// Readable when the process has ended; -1: it can't be watched.
    int process_fd() const noexcept { return process_.get(); }
    bool process_ended() const noexcept;

    /// Wakes the peer if it sleeps. @thread any
    void ring() const noexcept;
    std::uint32_t revision(std::uint32_t slot) const noexcept;

  private:
    bool read(const PageAddress& address);

    UniqueFd process_;
    UniqueFd ring_;
    SealedMemory memory_;
    const PageLayout* page_ = nullptr; // in it
    bool gone_ = false;
};

} // namespace plexus::libfabric
