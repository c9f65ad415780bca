// SPDX-License-Identifier: BSD-3-Clause
// Which planner serves a pattern and an operation.
#include "plexus/eco/plan.h"

#include "plan/patterns.h"
#include "plan/tree.h"
#include "topology/refuse.h"

#include <algorithm>

namespace plexus::eco {
namespace {

Plan by_tree(const Task& task, const Shape& shape) {
    constexpr std::uint64_t kChainSegments = 16;
    const bool reduction = reduces(task.operation);
    const Rank root = reduction && !task.commutative ? 0 : task.root;
    std::uint64_t parts = segments_of(task, shape.segment_bytes);
    if (shape.pattern == Pattern::chain && shape.segment_bytes == 0)
        parts = std::clamp<std::uint64_t>(task.elements, 1, kChainSegments);
    if (scans(task.operation)) return plan_scan(task, false, parts);
    return along(regular_tree(shape.pattern, shape.arity, task.members, root), task, parts);
}

} // namespace

std::string_view to_string(Operation operation) noexcept {
    switch (operation) {
    case Operation::broadcast:
        return "broadcast";
    case Operation::scatter:
        return "scatter";
    case Operation::gather:
        return "gather";
    case Operation::reduce:
        return "reduce";
    case Operation::all_gather:
        return "all_gather";
    case Operation::all_reduce:
        return "all_reduce";
    case Operation::all_to_all:
        return "all_to_all";
    case Operation::barrier:
        return "barrier";
    case Operation::reduce_scatter:
        return "reduce_scatter";
    case Operation::scan:
        return "scan";
    case Operation::exclusive_scan:
        return "exclusive_scan";
    }
    return "unknown";
}

std::string_view to_string(Pattern pattern) noexcept {
    switch (pattern) {
    case Pattern::star:
        return "star";
    case Pattern::tree:
        return "tree";
    case Pattern::binomial:
        return "binomial";
    case Pattern::chain:
        return "chain";
    case Pattern::ring:
        return "ring";
    case Pattern::butterfly:
        return "butterfly";
    case Pattern::bruck:
        return "bruck";
    case Pattern::pairwise:
        return "pairwise";
    }
    return "unknown";
}

bool suits(Pattern pattern, Operation operation) noexcept {
    const auto one_of = [&](std::initializer_list<Operation> those) {
        return std::find(those.begin(), those.end(), operation) != those.end();
    };
    switch (pattern) {
    case Pattern::star:
    case Pattern::tree:
    case Pattern::binomial:
        return !scans(operation);
    case Pattern::chain:
        return true;
    case Pattern::ring:
        return one_of(
            {Operation::broadcast, Operation::all_gather, Operation::all_reduce, Operation::reduce_scatter});
    case Pattern::butterfly:
        return !scans(operation) && !one_of({Operation::scatter, Operation::gather, Operation::all_to_all});
    case Pattern::bruck:
        return scans(operation) || one_of({Operation::all_gather, Operation::all_to_all, Operation::barrier});
    case Pattern::pairwise:
        return one_of(
            {Operation::all_gather, Operation::all_to_all, Operation::barrier, Operation::reduce_scatter});
    }
    return false;
}

std::uint64_t Plan::bytes_of(const Message& message) const noexcept {
    std::uint64_t elements = 0;
    for (const BlockRange& range : blocks_of(message))
        for (std::uint32_t block = range.first; block < range.first + range.count; ++block)
            elements += block_elements[block];
    return elements * element_bytes;
}

Plan plan(const Task& task, const Shape& shape) {
    Builder(task, 1); // refuses what makes no sense, before anything is made of it
    if (!suits(shape.pattern, task.operation))
        refuse(Status::unsupported, "a {} makes no {}: see suits()", to_string(shape.pattern),
               to_string(task.operation));
    switch (shape.pattern) {
    case Pattern::ring:
        if (reduces(task.operation) && !task.commutative)
            refuse(Status::unsupported,
                   "a ring combines contributions in another order than that of the ranks: "
                   "take a butterfly or a tree");
        return plan_ring(task);
    case Pattern::butterfly:
        return plan_butterfly(task, task.elements * task.element_bytes >= shape.halve_from_bytes);
    case Pattern::bruck:
        return scans(task.operation) ? plan_scan(task, true, 1) : plan_bruck(task);
    case Pattern::pairwise:
        return plan_pairwise(task);
    case Pattern::tree:
        if (shape.arity == 0) refuse(Status::bad_argument, "a tree has an arity from 1 up");
        [[fallthrough]];
    default:
        return by_tree(task, shape);
    }
}

} // namespace plexus::eco
