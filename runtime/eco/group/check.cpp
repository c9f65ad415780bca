// SPDX-License-Identifier: BSD-3-Clause
// What one member can see to be wrong with its call, before anything is sent.
#include "group/schedule.h"
#include "topology/refuse.h"

#include <cstdint>
#include <numeric>

namespace plexus::eco::detail {
namespace {

void same(std::string_view what, std::uint64_t have, std::uint64_t need, const CollectiveArgs& args) {
    if (have != need)
        refuse(Status::bad_argument, "{}: {} has {} elements and needs {}", to_string(args.operation), what,
               have, need);
}

/// Elements of each part of a span with one part a member.
std::uint64_t each_of(std::string_view what, std::uint64_t have, Rank members, const CollectiveArgs& args) {
    if (have % members != 0)
        refuse(Status::bad_argument,
               "{}: {} has {} elements, which {} members can't share evenly: see the v form",
               to_string(args.operation), what, have, members);
    return have / members;
}

void check_layout(std::string_view what, const Layout& layout, std::uint64_t have, Rank members,
                  const CollectiveArgs& args) {
    const auto name = to_string(args.operation);
    if (layout.counts.size() != members ||
        (!layout.displacements.empty() && layout.displacements.size() != members))
        refuse(Status::bad_argument, "{}: {} counts and {} displacements of {} for {} members", name,
               layout.counts.size(), layout.displacements.size(), what, members);
    std::uint64_t next = 0;
    for (Rank member = 0; member < members; ++member) {
        const std::uint64_t first = layout.displacements.empty() ? next : layout.displacements[member];
        if (first > have || layout.counts[member] > have - first)
            refuse(Status::bad_argument, "{}: the part of member {} is {} elements from {} on, and {} has {}",
                   name, member, layout.counts[member], first, what, have);
        next = first + layout.counts[member];
    }
}

/// The part of this member in `all` is as long as `mine`.
void check_whole(const CollectiveArgs& args, const Layout& layout, std::uint64_t all, std::uint64_t mine,
                 Rank members, Rank me) {
    if (args.varied) {
        check_layout("the whole", layout, all, members, args);
        same("the member's own part", mine, layout.counts[me], args);
    } else if (all / members != mine || all % members != 0) {
        refuse(Status::bad_argument, "{}: the whole has {} elements and needs {} times {}",
               to_string(args.operation), all, members, mine);
    }
}

/// Of the elements of all parts; 0: not every member knows it.
std::uint64_t mean_if_known(const Layout& layout, Rank members, Lengths lengths) {
    if (lengths == Lengths::of_root) return 0;
    return std::accumulate(layout.counts.begin(), layout.counts.end(), std::uint64_t{0}) / members;
}

} // namespace

bool fit_into_memory(std::span<const std::uint64_t> counts, std::uint32_t element_bytes) noexcept {
    std::uint64_t left = PTRDIFF_MAX / 2 / element_bytes;
    for (const std::uint64_t count : counts) {
        if (count > left) return false;
        left -= count;
    }
    return true;
}

std::uint64_t check(const CollectiveArgs& args, Rank members, Rank me, Lengths lengths) {
    if (args.root >= members)
        refuse(Status::bad_argument, "{}: there is no root {} among {} members", to_string(args.operation),
               args.root, members);
    const bool root = me == args.root;
    switch (args.operation) {
    case Operation::barrier:
        return 0;
    case Operation::broadcast:
        return args.receive_elements;
    case Operation::scatter:
        if (root) check_whole(args, args.send_layout, args.send_elements, args.receive_elements, members, me);
        return !args.varied ? args.receive_elements : mean_if_known(args.send_layout, members, lengths);
    case Operation::gather:
        if (root)
            check_whole(args, args.receive_layout, args.receive_elements, args.send_elements, members, me);
        return !args.varied ? args.send_elements : mean_if_known(args.receive_layout, members, lengths);
    case Operation::all_gather:
        if (args.varied) {
            check_layout("the whole", args.receive_layout, args.receive_elements, members, args);
            if (!args.in_place)
                same("the member's own part", args.send_elements, args.receive_layout.counts[me], args);
            return mean_if_known(args.receive_layout, members, Lengths::told);
        }
        if (!args.in_place) {
            check_whole(args, {}, args.receive_elements, args.send_elements, members, me);
            return args.send_elements;
        }
        return each_of("the whole", args.receive_elements, members, args);
    case Operation::all_to_all:
        if (args.varied) {
            check_layout("what leaves", args.send_layout, args.send_elements, members, args);
            check_layout("what comes", args.receive_layout, args.receive_elements, members, args);
            same("what a member sends itself", args.send_layout.counts[me], args.receive_layout.counts[me],
                 args);
            return 0;
        }
        same("what comes", args.receive_elements, args.send_elements, args);
        return each_of("what leaves", args.send_elements, members, args);
    case Operation::reduce:
        if (root) same("the outcome", args.receive_elements, args.send_elements, args);
        return args.send_elements;
    case Operation::reduce_scatter:
        check_whole(args, args.send_layout, args.send_elements, args.receive_elements, members, me);
        return args.varied ? args.send_elements / members : args.receive_elements;
    case Operation::all_reduce:
    case Operation::scan:
    case Operation::exclusive_scan:
        same("the outcome", args.receive_elements, args.send_elements, args);
        return args.send_elements;
    }
    return 0;
}

} // namespace plexus::eco::detail
