// SPDX-License-Identifier: BSD-3-Clause
#include "group/execution.h"

#include <fmt/format.h>

namespace plexus::eco::detail {

std::uint32_t Signature::digest() const noexcept {
    using plexus::detail::mix;
    std::uint64_t hash =
        mix(0xcbf29ce484222325ull, static_cast<std::uint64_t>(operation) | (varied ? 256 : 0) |
                                       (shifts ? 512 : 0) | (memory ? 1024 : 0) | (hierarchical ? 2048 : 0));
    hash = mix(mix(hash, root), element_bytes);
    hash = mix(mix(mix(mix(hash, elements), algorithm), parts), plan);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::string Signature::text() const {
    if (shifts) return fmt::format("a shift in a grid ({:x})", algorithm);
    const char* const through = memory         ? " through shared memory"
                                : hierarchical ? " through the memory of each host"
                                               : "";
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

} // namespace plexus::eco::detail
