// SPDX-License-Identifier: BSD-3-Clause
// All links of a context, and who owns them. @thread any
#pragma once

#include "base/lock.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plexus::stream_link {

class Link;

class LinkList {
  public:
    LinkList() = default;
    ~LinkList();
    LinkList(const LinkList&) = delete;
    LinkList& operator=(const LinkList&) = delete;

    Link& add(std::unique_ptr<Link> link);
    std::unique_ptr<Link> remove(Link& link);

    std::uint64_t size() const;
    std::vector<Link*> all() const;
    /// Bytes that the links' sockets had no room for.
    std::uint64_t queued_bytes() const;

  private:
    mutable Mutex mutex_;
    Link* first_ PLEXUS_GUARDED_BY(mutex_) = nullptr;
    std::uint64_t size_ PLEXUS_GUARDED_BY(mutex_) = 0;
};

} // namespace plexus::stream_link
