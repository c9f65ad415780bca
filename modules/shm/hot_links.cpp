// SPDX-License-Identifier: BSD-3-Clause
#include "shm/hot_links.h"

#include "shm/barrier.h"

#include <algorithm>
#include <utility>

namespace plexus::shm {

void HotLinks::add(Link& link) {
    if (link.gone.load(std::memory_order_relaxed)) return;
    link.heat.hot = true;
    link.heat.events = 0;
    links_[count_++] = &link;
    // A sender that still sees `doorbell` rings for nothing; that one is polled anyway.
    link.shared.in->attention.store(Direction::direct, std::memory_order_relaxed);
}

void HotLinks::remove(Link& link) {
    if (busiest_ == &link) busiest_ = nullptr;
    if (!link.heat.hot) return;
    link.heat.hot = false;
    link.shared.in->attention.store(Direction::doorbell, std::memory_order_seq_cst);
    Link** const end = links_.data() + count_;
    Link** const place = std::find(links_.data(), end, &link);
    *place = *(end - 1);
    *(end - 1) = nullptr;
    --count_;
}

void HotLinks::begin_count(Link& link) noexcept {
    if (std::exchange(link.heat.period, period_) != period_) link.heat.events = 0;
}

void HotLinks::note(Link& link) noexcept {
    if (busiest_ == nullptr || link.heat.events > busiest_->heat.events) busiest_ = &link;
}

void HotLinks::compare(Mailbox& mailbox, bool has_barrier) {
    if (!is_full()) return;
    Link* const busiest = std::exchange(busiest_, nullptr);
    ++period_;
    Link* const idlest =
        *std::min_element(links_.data(), links_.data() + count_,
                          [](const Link* a, const Link* b) { return a->heat.events < b->heat.events; });
    if (busiest != nullptr && !busiest->heat.hot && busiest->heat.events > 16 &&
        busiest->heat.events / 4 > idlest->heat.events) {
        remove(*idlest);
        full_barrier(has_barrier);
        mailbox.ring(idlest->slot); // the last look
        add(*busiest);
    }
    for (std::uint32_t i = 0; i < count_; ++i) links_[i]->heat.events = 0;
}

bool HotLinks::has_news() const noexcept {
    return std::any_of(links_.data(), links_.data() + count_,
                       [](const Link* link) { return link->receiver.has_news() || link->sender.has_news(); });
}

void HotLinks::expect_doorbells() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
        links_[i]->shared.in->attention.store(Direction::doorbell, std::memory_order_seq_cst);
}

void HotLinks::expect_polls() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
        links_[i]->shared.in->attention.store(Direction::direct, std::memory_order_relaxed);
}

void HotLinks::forget() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) links_[i]->heat.hot = false;
    links_.fill(nullptr);
    count_ = 0;
}

} // namespace plexus::shm
