// SPDX-License-Identifier: BSD-3-Clause
// All links of one context. A link that can be notified has a slot, whose number is its bit in the mailbox;
// one for which there was no slot, or that came too late, is a stray until the host gives it up.
#pragma once

#include "base/lock.h"
#include "shm/link.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace plexus::shm {

class LinkTable {
  public:
    // @thread progress

    /// Gives a link its slot; the table owns the link from then on. False: all slots are taken.
    bool add(Link& link);
    /// Owns a link without a slot.
    void add_stray(Link& link) { strays_.push_back(&link); }
    /// Deletes a link that has been added. Its slot is free again.
    void remove(Link& link);
    /// Deletes all links. Nobody else uses the table.
    void clear();

    /// Null: there is no link in that slot.
    Link* at(std::uint32_t slot) const noexcept PLEXUS_NO_THREAD_SAFETY {
        return slot < slots_.size() ? slots_[slot] : nullptr;
    }
    /// Calls act(link) for each link that has a slot.
    template <class Act>
    void for_each(Act&& act) const PLEXUS_NO_THREAD_SAFETY {
        for (Link* const link : slots_)
            if (link != nullptr) act(*link);
    }
    /// A link has opened: it counts until it is removed.
    void count_open(const Link& link) noexcept;

    // Enquiries. @thread any

    std::uint64_t open_links() const noexcept { return open_links_.load(std::memory_order_relaxed); }
    /// Bytes of the segments of open links.
    std::uint64_t segment_bytes() const noexcept { return segment_bytes_.load(std::memory_order_relaxed); }
    /// What the links to the context with that socket measured of copies: of the one that measured most.
    CopyChoice::AllLearned learned(const SocketName& peer) const;
    /// Bytes that open links have accepted and that their peers have not taken yet.
    std::uint64_t queued_bytes() const;

  private:
    // The poller alone writes slots_, so it reads without the lock: at() and for_each().
    mutable Mutex mutex_;
    std::vector<Link*> slots_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::uint32_t> free_slots_;
    std::vector<Link*> strays_;
    std::atomic<std::uint64_t> open_links_{0};
    std::atomic<std::uint64_t> segment_bytes_{0};
};

} // namespace plexus::shm
