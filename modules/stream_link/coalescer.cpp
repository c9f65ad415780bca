// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/coalescer.h"

#include "stream_link/link.h"

#include <algorithm>
#include <utility>

namespace plexus::stream_link {

Coalescer::Batch::Batch(Coalescer& coalescer) noexcept
  : coalescer_(coalescer)
  , coalesced_(coalescer.quick_)
  , begun_(Clock::now()) {
    if (coalesced_) coalescer.thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

Coalescer::Batch::~Batch() { coalescer_.stop(); }

void Coalescer::Batch::handed_over(std::uint32_t messages) {
    messages_ += messages;
    if (!coalesces() || Clock::now() - begun_ <= kLate) return;
    coalescer_.stop();
    coalescer_.write();
}

void Coalescer::Batch::end() {
    coalescer_.stop();
    if (messages_ > 0)
        coalescer_.quick_ = Clock::now() - begun_ <= messages_ * (coalesced_ ? kQuick : 2 * kQuick);
    coalescer_.write();
}

void Coalescer::add(Link& link) {
    if (!std::exchange(link.coalesced, true)) links_.push_back(&link);
}

void Coalescer::remove(Link& link) {
    if (std::exchange(link.coalesced, false))
        std::replace(links_.begin(), links_.end(), &link, static_cast<Link*>(nullptr));
}

// Callbacks may close other links, which then leave the list, and add some behind those that are there.
void Coalescer::write() {
    for (std::size_t at = 0; at < links_.size(); ++at) {
        Link* const link = links_[at];
        if (link == nullptr) continue;
        link->coalesced = false;
        link->flush();
    }
    links_.clear();
}

} // namespace plexus::stream_link
