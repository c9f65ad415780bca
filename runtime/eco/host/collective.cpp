// SPDX-License-Identifier: BSD-3-Clause
#include "host/collective.h"

#include "host/operations.h"

namespace plexus::eco::host {

Blocks::Blocks(const Layout& layout, std::size_t elements, const detail::CollectiveArgs& args, Rank members) {
    if (layout.counts.empty()) {
        each_ = elements / members * args.element_bytes;
        return;
    }
    std::size_t next = 0;
    for (Rank member = 0; member < members; ++member) {
        const std::size_t begin =
            layout.displacements.empty() ? next : layout.displacements[member] * args.element_bytes;
        const std::size_t size = layout.counts[member] * args.element_bytes;
        blocks_.push_back({begin, size});
        each_ = std::max(each_, size);
        next = begin + size;
    }
}

bool supports(const detail::CollectiveArgs& args, Rank members) noexcept {
    if (members < 2) return false;
    switch (args.operation) {
    case Operation::reduce:
    case Operation::all_reduce:
    case Operation::reduce_scatter:
        return std::size_t{members} * args.element_bytes <= kSlotBytes; // one element of each
    case Operation::scan:
    case Operation::exclusive_scan:
        return args.element_bytes <= kSlotBytes;
    default:
        return true;
    }
}

void run(SharedArena& arena, const detail::CollectiveArgs& args) {
    switch (args.operation) {
    case Operation::barrier:
        return barrier(arena);
    case Operation::broadcast:
        return broadcast(arena, args);
    case Operation::scatter:
        return scatter(arena, args);
    case Operation::gather:
        return gather(arena, args);
    case Operation::all_gather:
        return all_gather(arena, args);
    case Operation::reduce:
        return reduce(arena, args, false);
    case Operation::all_reduce:
        return reduce(arena, args, true);
    case Operation::all_to_all:
        return all_to_all(arena, args);
    case Operation::reduce_scatter:
        return reduce_scatter(arena, args);
    case Operation::scan:
        return scan(arena, args, false);
    case Operation::exclusive_scan:
        return scan(arena, args, true);
    }
}

} // namespace plexus::eco::host
