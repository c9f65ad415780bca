// SPDX-License-Identifier: BSD-3-Clause
// Which planner serves a pattern and an operation.
#include "plexus/eco/plan.h"

#include "plan/patterns.h"
#include "plan/tree.h"
#include "topology/refuse.h"

#include <algorithm>

namespace plexus::eco {
namespace {

Plan by_tree(const PlanRequest& request, const AlgorithmOptions& options) {
    const bool reduction = reduces(request.operation);
    const Rank root = reduction && !request.commutative ? 0 : request.root;
    const std::uint64_t parts = parts_of(request, options);
    if (scans(request.operation)) return plan_scan(request, false, parts);
    return along(regular_tree(options.pattern, options.arity, request.members, root), request, parts);
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

bool supports(Pattern pattern, Operation operation) noexcept {
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

Plan plan(const PlanRequest& request, const AlgorithmOptions& options) {
    Builder(request, 1); // refuses what makes no sense, before anything is made of it
    if (!supports(options.pattern, request.operation))
        refuse(Status::unsupported, "a {} makes no {}: see supports()", to_string(options.pattern),
               to_string(request.operation));
    switch (options.pattern) {
    case Pattern::ring:
        if (reduces(request.operation) && !request.commutative)
            refuse(Status::unsupported,
                   "a ring combines contributions in another order than that of the ranks: "
                   "take a butterfly or a tree");
        return plan_ring(request);
    case Pattern::butterfly:
        return plan_butterfly(request, request.elements * request.element_bytes >= options.halve_from_bytes);
    case Pattern::bruck:
        return scans(request.operation) ? plan_scan(request, true, 1) : plan_bruck(request);
    case Pattern::pairwise:
        return plan_pairwise(request);
    case Pattern::tree:
        if (options.arity == 0) refuse(Status::bad_argument, "a tree has an arity from 1 up");
        [[fallthrough]];
    default:
        return by_tree(request, options);
    }
}

} // namespace plexus::eco
