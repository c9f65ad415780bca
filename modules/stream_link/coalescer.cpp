// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/coalescer.h"

#include "stream_link/link.h"

namespace plexus::stream_link {

bool Coalescer::begin() {
    if (under_way_) return false;
    under_way_ = true;
    begun_ = Clock::now();
    if (quick_) thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
}

void Coalescer::end(std::uint32_t messages) {
    thread_.store(std::thread::id(), std::memory_order_relaxed);
    under_way_ = false;
    quick_ = Clock::now() - begun_ <= messages * kQuick;
    while (!links_.empty()) { // callbacks may close others
        Link& link = *links_.back();
        links_.pop_back();
        link.flush();
    }
}

} // namespace plexus::stream_link
