// SPDX-License-Identifier: BSD-3-Clause
#include "group/execution.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace plexus::eco::detail {

void settle(CompletionState& future, Status status, const std::string& why) {
    if (status != Status::ok) return future.fail(status, why);
    plexus::detail::Reader nothing(nullptr, nullptr, 0, 0);
    future.complete(nothing);
}

std::uint32_t Signature::digest() const noexcept {
    using plexus::detail::mix;
    std::uint64_t hash =
        mix(0xcbf29ce484222325ull, static_cast<std::uint64_t>(operation) | (varied ? 256 : 0) |
                                       (shifts ? 512 : 0) | (memory ? 1024 : 0) | (hierarchical ? 2048 : 0) |
                                       (probes ? 4096 : 0) | (multicast ? 8192 : 0));
    hash = mix(mix(hash, root), element_bytes);
    hash = mix(mix(mix(mix(hash, elements), algorithm), parts), plan);
    if (epoch != 0) hash = mix(hash, epoch);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::string Signature::text() const {
    if (shifts) return fmt::format("a shift in a grid ({:x})", algorithm);
    if (probes) return fmt::format("probe {} of {} bytes of the group's adaptation", algorithm, elements);
    std::string through = memory         ? " through shared memory"
                          : hierarchical ? " through the memory of each host"
                          : multicast    ? " by multicast"
                                         : "";
    if (epoch != 0) through += fmt::format(" by the map of epoch {}", epoch);
    if (operation == Operation::barrier)
        return (algorithm == 0 ? "barrier" : fmt::format("barrier by pattern {:x}", algorithm)) + through;
    std::string out = varied
                          ? fmt::format("{}_v of {}-byte elements", to_string(operation), element_bytes)
                          : fmt::format("{} of {} x {} bytes", to_string(operation), elements, element_bytes);
    if (operation == Operation::broadcast || operation == Operation::scatter ||
        operation == Operation::gather || operation == Operation::reduce)
        out += fmt::format(" with root {}", root);
    if (parts != 0) out += fmt::format(", in all {} with lengths {:x}", elements, parts);
    if (algorithm != 0) out += fmt::format(" by pattern {:x}", algorithm);
    return out + through;
}

std::string Signature::uneven(Rank from, std::uint64_t sent, bool and_more, Rank to,
                              std::uint64_t expected) const {
    return fmt::format("member {} sends {} bytes{}, and member {} expects {} of it, in their {}", from, sent,
                       and_more ? " and more" : "", to, expected, text());
}

std::size_t PlannedCall::whole_piece_bytes() const noexcept {
    const std::size_t element = signature.element_bytes;
    return std::max<std::size_t>(1, piece_bytes / element) * element;
}

void Execution::copy(const std::vector<Copy>& copies) const noexcept {
    for (const Copy& each : copies) {
        std::byte* const to = address(each.to);
        const std::byte* const from = address(each.from);
        if (to != from && each.from.bytes > 0) std::memmove(to, from, each.from.bytes);
    }
}

Bytes Execution::bytes_to_send(const ScheduleOp& op, Buffer& packed) const noexcept {
    const Segment* const segments = planned->schedule.segments.data() + op.first_segment;
    if (op.segments == 0) return {};
    if (op.segments == 1) return {address(*segments), segments->bytes};
    std::byte* to = packed.data();
    for (std::uint32_t i = 0; i < op.segments; ++i) {
        std::memcpy(to, address(segments[i]), segments[i].bytes);
        to += segments[i].bytes;
    }
    return packed.bytes();
}

/// Calls `what(address, bytes)` for each contiguous run of memory.
template <class Do>
void Execution::for_each_run(const ScheduleOp& op, std::uint64_t from, Bytes content, Do&& what) const {
    const Segment* segment = planned->schedule.segments.data() + op.first_segment;
    while (!content.empty()) {
        if (from >= segment->bytes) {
            from -= segment++->bytes;
            continue;
        }
        const Bytes now = content.first(std::min<std::uint64_t>(content.size(), segment->bytes - from));
        what(address(*segment) + from, now);
        from += now.size();
        content = content.subspan(now.size());
    }
}

void Execution::store(const ScheduleOp& op, std::uint64_t from, Bytes content) const noexcept {
    for_each_run(op, from, content,
                 [](std::byte* place, Bytes run) { std::memcpy(place, run.data(), run.size()); });
}

void Execution::merge(const ScheduleOp& op, std::uint64_t from, Bytes content) const {
    if (op.merge == Merge::store) return store(op, from, content);
    const std::size_t size = planned->signature.element_bytes;
    for_each_run(op, from, content, [&](std::byte* here, Bytes run) {
        op.merge == Merge::before ? combine.run(combine.op.get(), here, run.data(), here, run.size() / size)
                                  : combine.run(combine.op.get(), here, here, run.data(), run.size() / size);
    });
}

void Execution::reset(Pool& pool) {
    for (std::size_t slot = 0; slot < planned->schedule.op_of_slot.size(); ++slot) {
        Slot& each = slots[slot];
        each.stored.store(false, std::memory_order_relaxed);
        each.complete = false;
        each.came = 0;
        if (each.kept.memory != nullptr) pool.give(std::move(each.kept));
        each.kept = {};
    }
    pool.give(std::move(scratch));
    scratch = {};
    planned.reset();
    combine = {};
    wait = {};
    outcome = {};
    step = {};
    by_multicast.window.reset();
    end.sleeper.reset();
    end.ready.store(false, std::memory_order_relaxed);
    at = 0;
}

} // namespace plexus::eco::detail
