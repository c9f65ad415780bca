// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/link_list.h"

#include "stream_link/link.h"

namespace plexus::stream_link {

LinkList::~LinkList() {
    for (Link* link : all()) (void)remove(*link);
}

Link& LinkList::add(std::unique_ptr<Link> added) {
    Link& link = *added.release();
    const Lock hold(mutex_);
    link.next = first_;
    if (first_ != nullptr) first_->previous = &link;
    first_ = &link;
    ++size_;
    return link;
}

std::unique_ptr<Link> LinkList::remove(Link& link) {
    const Lock hold(mutex_);
    (link.previous != nullptr ? link.previous->next : first_) = link.next;
    if (link.next != nullptr) link.next->previous = link.previous;
    --size_;
    return std::unique_ptr<Link>(&link);
}

std::uint64_t LinkList::size() const {
    const Lock hold(mutex_);
    return size_;
}

std::vector<Link*> LinkList::all() const {
    std::vector<Link*> links;
    const Lock hold(mutex_);
    for (Link* link = first_; link != nullptr; link = link->next) links.push_back(link);
    return links;
}

std::uint64_t LinkList::queued_bytes() const {
    std::uint64_t bytes = 0;
    const Lock hold(mutex_);
    for (const Link* link = first_; link != nullptr; link = link->next)
        bytes += link->writer().own_queued_bytes();
    return bytes;
}

} // namespace plexus::stream_link
