// SPDX-License-Identifier: BSD-3-Clause
#include "mailroom.h"

#include <algorithm>
#include <stdexcept>

namespace climate {

void Mailbox::put(std::uint64_t turn, std::span<const double> values) {
    Slot& to = slot(turn);
    if (values.size() != to.values.size())
        throw std::logic_error("rows of another size arrived: do all contexts run with the same options?");
    const std::uint64_t held = to.arrived.load(std::memory_order_relaxed); // only put() changes it
    // [taken] pairs with the store in take(): the model has finished reading.
    if (turn <= held || to.taken.load(std::memory_order_acquire) != held)
        throw std::logic_error("a neighbour is more than one exchange ahead");
    std::ranges::copy(values, to.values.begin());
    to.arrived.store(turn, std::memory_order_release); // [arrived]
}

void Mailbox::take(std::uint64_t turn) noexcept {
    slot(turn).taken.store(turn, std::memory_order_release); // [taken]
}

Mailroom::Mailroom(std::span<const std::size_t> sizes) {
    for (const std::size_t size : sizes) boxes_.emplace_back(size);
}

} // namespace climate
