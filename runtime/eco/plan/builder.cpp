// SPDX-License-Identifier: BSD-3-Clause
#include "plan/builder.h"

#include "topology/refuse.h"

#include <algorithm>

namespace plexus::eco {
namespace {

// Places are 32 bits wide; this many blocks are 16 GiB of lengths' worth of nothing gained.
constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 26;

std::uint64_t block_count(const PlanRequest& request, std::uint64_t parts) {
    switch (request.operation) {
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::all_reduce:
    case Operation::scan:
    case Operation::exclusive_scan:
        return parts;
    case Operation::scatter:
    case Operation::gather:
    case Operation::all_gather:
    case Operation::reduce_scatter:
        return request.members;
    case Operation::all_to_all:
        return std::uint64_t{request.members} * request.members;
    case Operation::barrier:
        return 0;
    }
    return 0;
}

} // namespace

bool has_parts(Operation operation) noexcept {
    return operation == Operation::broadcast ||
           (reduces(operation) && operation != Operation::reduce_scatter);
}

bool reduces(Operation operation) noexcept {
    return operation == Operation::reduce || operation == Operation::all_reduce ||
           operation == Operation::reduce_scatter || scans(operation);
}

bool scans(Operation operation) noexcept {
    return operation == Operation::scan || operation == Operation::exclusive_scan;
}

Blocks cyclic(std::uint64_t first, std::uint64_t count, std::uint64_t of) {
    first %= of;
    const std::uint64_t straight = std::min(count, of - first);
    Blocks out;
    if (straight > 0)
        out.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(straight)});
    if (count > straight) out.push_back({0, static_cast<std::uint32_t>(count - straight)});
    return out;
}

Blocks blocks_in(std::vector<std::uint32_t> blocks) {
    std::sort(blocks.begin(), blocks.end());
    Blocks out;
    for (const std::uint32_t block : blocks) append(out, {block, 1});
    return out;
}

Blocks others(const Blocks& blocks, std::uint32_t of) {
    Blocks out;
    std::uint32_t next = 0;
    for (const BlockRange& range : blocks) {
        if (range.first > next) out.push_back({next, range.first - next});
        next = range.first + range.count;
    }
    if (of > next) out.push_back({next, of - next});
    return out;
}

Blocks between(const Blocks& blocks, std::uint32_t first, std::uint32_t end) {
    Blocks out;
    auto range = std::partition_point(blocks.begin(), blocks.end(), [&](const BlockRange& each) {
        return each.first + each.count <= first;
    });
    for (; range != blocks.end() && range->first < end; ++range) {
        const std::uint32_t from = std::max(range->first, first);
        out.push_back({from, std::min(range->first + range->count, end) - from});
    }
    return out;
}

std::uint64_t count_of(const Blocks& blocks) noexcept {
    std::uint64_t count = 0;
    for (const BlockRange& range : blocks) count += range.count;
    return count;
}

std::vector<std::uint64_t> block_elements(const PlanRequest& request, std::uint64_t blocks) {
    std::vector<std::uint64_t> out(blocks, request.elements);
    if (has_parts(request.operation))
        for (std::uint64_t part = 0; part < blocks; ++part)
            out[part] = request.elements / blocks + (part < request.elements % blocks ? 1 : 0);
    return out;
}

Builder::Builder(const PlanRequest& request, std::uint64_t parts) {
    if (request.members == 0) refuse(Status::bad_argument, "a plan has at least one member");
    if (request.root >= request.members)
        refuse(Status::bad_argument, "there is no root {} among {} members", request.root, request.members);
    if (request.element_bytes == 0) refuse(Status::bad_argument, "an element has at least one byte");
    const std::uint64_t blocks = block_count(request, parts);
    if (blocks > kMaxBlocks) refuse(Status::bad_argument, "{} blocks are too many for one plan", blocks);
    if (request.elements > UINT64_MAX / request.element_bytes / std::max<std::uint64_t>(blocks, 1))
        refuse(Status::bad_argument, "{} elements of {} bytes are more than can be counted", request.elements,
               request.element_bytes);
    plan_.operation = request.operation;
    plan_.members = request.members;
    plan_.root = request.root;
    plan_.element_bytes = request.element_bytes;
    plan_.steps.resize(request.members);
    plan_.block_elements = block_elements(request, blocks);
}

std::uint32_t Builder::post(Rank from, Rank to, const Blocks& blocks, Merge merge) {
    const auto message = static_cast<std::uint32_t>(plan_.messages.size());
    plan_.messages.push_back({from, to, static_cast<std::uint32_t>(plan_.ranges.size()),
                              static_cast<std::uint32_t>(blocks.size()), merge});
    plan_.ranges.insert(plan_.ranges.end(), blocks.begin(), blocks.end());
    plan_.steps[from].push_back({message, true});
    return message;
}

void Builder::take(std::uint32_t message) {
    plan_.steps[plan_.messages[message].to].push_back({message, false});
}

} // namespace plexus::eco
