// SPDX-License-Identifier: BSD-3-Clause
// What one member can see to be wrong with its call, before anything is sent.
#include "exec/script.h"
#include "topology/refuse.h"

namespace plexus::eco::exec {
namespace {

void same(std::string_view what, std::uint64_t have, std::uint64_t need, const detail::Work& work) {
    if (have != need)
        refuse(Status::bad_argument, "{}: {} has {} elements and needs {}", to_string(work.operation), what,
               have, need);
}

/// Elements of each part of a span with one part a member.
std::uint64_t each_of(std::string_view what, std::uint64_t have, Rank members, const detail::Work& work) {
    if (have % members != 0)
        refuse(Status::bad_argument,
               "{}: {} has {} elements, which {} members can't share evenly: see the v form",
               to_string(work.operation), what, have, members);
    return have / members;
}

void check_parts(std::string_view what, const Parts& parts, std::uint64_t have, Rank members,
                 const detail::Work& work) {
    const auto name = to_string(work.operation);
    if (parts.counts.size() != members || (!parts.places.empty() && parts.places.size() != members))
        refuse(Status::bad_argument, "{}: {} counts and {} places of {} for {} members", name,
               parts.counts.size(), parts.places.size(), what, members);
    std::uint64_t next = 0;
    for (Rank member = 0; member < members; ++member) {
        const std::uint64_t first = parts.places.empty() ? next : parts.places[member];
        if (first > have || parts.counts[member] > have - first)
            refuse(Status::bad_argument, "{}: the part of member {} is {} elements from {} on, and {} has {}",
                   name, member, parts.counts[member], first, what, have);
        next = first + parts.counts[member];
    }
}

/// The part of this member in `all` is as long as `mine`.
void check_whole(const detail::Work& work, const Parts& parts, std::uint64_t all, std::uint64_t mine,
                 Rank members, Rank me) {
    if (work.varied) {
        check_parts("the whole", parts, all, members, work);
        same("the member's own part", mine, parts.counts[me], work);
    } else if (all / members != mine || all % members != 0) {
        refuse(Status::bad_argument, "{}: the whole has {} elements and needs {} times {}",
               to_string(work.operation), all, members, mine);
    }
}

} // namespace

std::uint64_t check(const detail::Work& work, Rank members, Rank me) {
    if (work.root >= members)
        refuse(Status::bad_argument, "{}: there is no root {} among {} members", to_string(work.operation),
               work.root, members);
    const bool root = me == work.root;
    switch (work.operation) {
    case Operation::barrier:
        return 0;
    case Operation::broadcast:
        return work.receive_elements;
    case Operation::scatter:
        if (root) check_whole(work, work.send_parts, work.send_elements, work.receive_elements, members, me);
        return work.varied ? 0 : work.receive_elements;
    case Operation::gather:
        if (root)
            check_whole(work, work.receive_parts, work.receive_elements, work.send_elements, members, me);
        return work.varied ? 0 : work.send_elements;
    case Operation::all_gather:
        if (work.varied) {
            check_parts("the whole", work.receive_parts, work.receive_elements, members, work);
            if (!work.in_place)
                same("the member's own part", work.send_elements, work.receive_parts.counts[me], work);
            std::uint64_t total = 0;
            for (const std::uint64_t count : work.receive_parts.counts) total += count;
            return total / members;
        }
        if (!work.in_place) {
            check_whole(work, {}, work.receive_elements, work.send_elements, members, me);
            return work.send_elements;
        }
        return each_of("the whole", work.receive_elements, members, work);
    case Operation::all_to_all:
        if (work.varied) {
            check_parts("what leaves", work.send_parts, work.send_elements, members, work);
            check_parts("what comes", work.receive_parts, work.receive_elements, members, work);
            same("what a member sends itself", work.send_parts.counts[me], work.receive_parts.counts[me],
                 work);
            return 0;
        }
        same("what comes", work.receive_elements, work.send_elements, work);
        return each_of("what leaves", work.send_elements, members, work);
    case Operation::reduce:
        if (root) same("the outcome", work.receive_elements, work.send_elements, work);
        return work.send_elements;
    case Operation::reduce_scatter:
        check_whole(work, work.send_parts, work.send_elements, work.receive_elements, members, me);
        return work.varied ? work.send_elements / members : work.receive_elements;
    case Operation::all_reduce:
    case Operation::scan:
    case Operation::exclusive_scan:
        same("the outcome", work.receive_elements, work.send_elements, work);
        return work.send_elements;
    }
    return 0;
}

} // namespace plexus::eco::exec
