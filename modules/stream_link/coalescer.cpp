// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/coalescer.h"

#include "stream_link/link.h"

#include <utility>

namespace plexus::stream_link {

Coalescer::Batch::Batch(Coalescer& of) noexcept
  : of_(std::exchange(of.under_way_, true) ? nullptr : &of)
  , begun_(Clock::now()) {
    if (of_ != nullptr && of_->quick_)
        of_->thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

Coalescer::Batch::~Batch() {
    if (of_ == nullptr) return;
    of_->stop();
    of_->under_way_ = false;
}

void Coalescer::Batch::handed_over(std::uint32_t messages) {
    messages_ += messages;
    if (!gathers() || Clock::now() - begun_ <= kLate) return;
    of_->stop();
    of_->write();
}

void Coalescer::Batch::end() {
    if (of_ == nullptr) return;
    of_->stop();
    if (messages_ > 0) of_->quick_ = Clock::now() - begun_ <= messages_ * kQuick;
    of_->write();
}

void Coalescer::write() {
    while (!links_.empty()) { // callbacks may close others
        Link& link = *links_.back();
        links_.pop_back();
        link.flush();
    }
}

} // namespace plexus::stream_link
