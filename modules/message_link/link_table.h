// SPDX-License-Identifier: BSD-3-Clause
// The links of one engine by their slots, and their owner. A message names its link by slot and
// token. @thread progress, unless it says otherwise
#pragma once

#include "base/lock.h"
#include "message_link/link.h"

#include <vector>

namespace plexus::message_link {

class LinkTable {
  public:
    /// Takes the link, and gives it a slot and a random token. False: there are as many as can be; it
    /// is taken all the same.
    bool add(std::unique_ptr<Link> link, const plexus_host& host);
    void remove(const Link& link); ///< frees it

    /// Null: there is none.
    Link* find(const Header& header) const noexcept {
        Link* const link = header.slot < slots_.size() ? slots_[header.slot].get() : nullptr;
        return link != nullptr && link->mine.token == header.token ? link : nullptr;
    }
    /// Calls `visit` with each link that has a slot; it may add links and lose them.
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::size_t i = 0; i < slots_.size(); ++i)
            if (slots_[i] != nullptr) visit(*slots_[i]);
    }
    std::uint64_t queued_bytes() const; ///< of all. @thread any
    /// Also those that are being made or ended: as long as a link counts, its peer may hear of it. @thread
    /// any
    std::uint64_t count() const {
        const Lock hold(mutex_);
        return slots_.size() - free_.size();
    }

  private:
    mutable Mutex mutex_;
    std::vector<std::unique_ptr<Link>> slots_; // written under mutex_; the progress thread reads without
    std::vector<std::uint32_t> free_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::unique_ptr<Link>> strays_ PLEXUS_GUARDED_BY(mutex_); // without a slot
};

} // namespace plexus::message_link
