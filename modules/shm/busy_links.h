// SPDX-License-Identifier: BSD-3-Clause
// The links that want a look in each turn: streams, copies, links that leave. @thread progress
#pragma once

#include "shm/link.h"

#include <cstddef>
#include <vector>

namespace plexus::shm {

class BusyLinks {
  public:
    bool empty() const noexcept { return links_.empty(); }
    std::size_t size() const noexcept { return links_.size(); }
    Link& operator[](std::size_t index) const noexcept { return *links_[index]; }
    auto begin() const noexcept { return links_.begin(); }
    auto end() const noexcept { return links_.end(); }

    void add(Link& link) {
        if (link.busy) return;
        link.busy = true;
        links_.push_back(&link);
    }
    void remove(Link& link) noexcept {
        if (link.busy) std::erase(links_, &link);
        link.busy = false;
    }
    /// The last link takes the place.
    void remove_at(std::size_t index) noexcept {
        links_[index]->busy = false;
        links_[index] = links_.back();
        links_.pop_back();
    }
    void clear() noexcept { links_.clear(); }

  private:
    std::vector<Link*> links_;
};

} // namespace plexus::shm
