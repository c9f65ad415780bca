// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/hot_links.h"

#include "stream_link/link.h"

#include <algorithm>

namespace plexus::stream_link {

std::uint32_t HotLinks::read(std::uint32_t budget) {
    static_assert(kMost == 2, "the first gets half of what is left, the last all");
    std::uint32_t handled = 0;
    for (std::size_t i = 0; i < count_;) {
        Link* const link = links_[i].link;
        const std::uint32_t left = budget - std::min(budget, handled);
        const std::uint32_t events = link->read(std::max(i + 1 == count_ ? left : left / 2, 1U));
        handled += events;
        if (i == count_ || links_[i].link != link) continue; // a callback has ended it
        std::uint32_t& misses = links_[i].misses;
        misses = events > 0 || link->has_backlog() ? 0 : misses + 1;
        if (misses <= kMostMisses) {
            ++i;
        } else {
            remove(*link);
        }
    }
    return handled;
}

bool HotLinks::add(Link& link) {
    const auto end = links_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto found =
        std::find_if(links_.begin(), end, [&](const Entry& each) { return each.link == &link; });
    if (found != end) {
        found->misses = 0;
        return false;
    }
    if (count_ < kMost) {
        links_[count_++] = {&link, 0};
        return true;
    }
    const auto coldest = std::max_element(links_.begin(), links_.end(),
                                          [](const Entry& a, const Entry& b) { return a.misses < b.misses; });
    if (coldest->misses > kFewMisses) *coldest = {&link, 0};
    return true;
}

void HotLinks::remove(const Link& link) {
    const auto end = links_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto found =
        std::find_if(links_.begin(), end, [&](const Entry& each) { return each.link == &link; });
    if (found == end) return;
    std::copy(found + 1, end, found);
    --count_;
}

} // namespace plexus::stream_link
