// SPDX-License-Identifier: BSD-3-Clause
#include "host/collective.h"

#include "host/operations.h"

namespace plexus::eco::host {

Blocks::Blocks(const Parts& parts, std::size_t elements, const detail::Work& work, Rank members) {
    if (parts.counts.empty()) {
        each_ = elements / members * work.element_bytes;
        return;
    }
    std::size_t next = 0;
    for (Rank member = 0; member < members; ++member) {
        const std::size_t begin = parts.places.empty() ? next : parts.places[member] * work.element_bytes;
        const std::size_t size = parts.counts[member] * work.element_bytes;
        blocks_.push_back({begin, size});
        each_ = std::max(each_, size);
        next = begin + size;
    }
}

bool suits(const detail::Work& work, Rank members) noexcept {
    if (members < 2) return false;
    switch (work.operation) {
    case Operation::reduce:
    case Operation::all_reduce:
    case Operation::reduce_scatter:
        return std::size_t{members} * work.element_bytes <= kSlot; // two at least
    case Operation::scan:
    case Operation::exclusive_scan:
        return work.element_bytes <= kSlot;
    default:
        return true;
    }
}

void run(Seat& seat, const detail::Work& work) {
    switch (work.operation) {
    case Operation::barrier:
        return barrier(seat);
    case Operation::broadcast:
        return broadcast(seat, work);
    case Operation::scatter:
        return scatter(seat, work);
    case Operation::gather:
        return gather(seat, work);
    case Operation::all_gather:
        return all_gather(seat, work);
    case Operation::reduce:
        return reduce(seat, work, false);
    case Operation::all_reduce:
        return reduce(seat, work, true);
    case Operation::all_to_all:
        return all_to_all(seat, work);
    case Operation::reduce_scatter:
        return reduce_scatter(seat, work);
    case Operation::scan:
        return scan(seat, work, false);
    case Operation::exclusive_scan:
        return scan(seat, work, true);
    }
}

} // namespace plexus::eco::host
