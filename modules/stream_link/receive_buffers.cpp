// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/receive_buffers.h"

#include <algorithm>

namespace plexus::stream_link {

void ReceiveBuffers::hold(Link& link) { holders_[held_++] = {&link, std::move(current_)}; }

void ReceiveBuffers::give_back(const Link& link) {
    const auto end = holders_.begin() + static_cast<std::ptrdiff_t>(held_);
    const auto found =
        std::find_if(holders_.begin(), end, [&](const Holder& each) { return each.link == &link; });
    if (found == end) return;
    (current_ == nullptr ? current_ : spare_) = std::move(found->buffer);
    std::move(found + 1, end, found); // the order stays
    holders_[--held_] = {};
}

void ReceiveBuffers::rotate() {
    std::rotate(holders_.begin(), holders_.begin() + 1,
                holders_.begin() + static_cast<std::ptrdiff_t>(held_));
}

bool ReceiveBuffers::prepare() {
    current_ = std::move(spare_);
    if (current_ == nullptr && held_ < kMost) current_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
    return current_ != nullptr;
}

} // namespace plexus::stream_link
