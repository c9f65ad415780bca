// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/manager/process_mapping.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace plexus::bootstrap {
namespace {

struct Block {
    std::uint32_t first_host = 0;
    std::uint32_t hosts = 0;
    std::uint32_t on_each = 0;
};

/// Takes `text` from the front of `rest`.
bool take(std::string_view& rest, std::string_view text) {
    if (!rest.starts_with(text)) return false;
    rest.remove_prefix(text.size());
    return true;
}

bool take(std::string_view& rest, std::uint32_t& number) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{}) return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
}

/// Those that have processes. Nothing if it is no such list, or one of no processes.
std::vector<Block> blocks_of(std::string_view mapping) {
    if (!take(mapping, "(vector")) return {};
    std::vector<Block> blocks;
    while (take(mapping, ",(")) {
        Block next;
        if (!take(mapping, next.first_host) || !take(mapping, ",") || !take(mapping, next.hosts) ||
            !take(mapping, ",") || !take(mapping, next.on_each) || !take(mapping, ")"))
            return {};
        if (next.hosts > 0 && next.on_each > 0) blocks.push_back(next);
    }
    return mapping == ")" ? blocks : std::vector<Block>{};
}

} // namespace

std::uint32_t local_size_of(std::string_view mapping, std::uint32_t rank, std::uint32_t size) {
    const std::vector<Block> blocks = blocks_of(mapping);
    if (blocks.empty() || rank >= size) return 0;
    const auto for_each_run = [&](auto look) { // of neighbouring ranks on one host
        std::uint32_t first = 0;
        while (first < size)
            for (const Block& block : blocks)
                for (std::uint32_t host = 0; host < block.hosts && first < size; ++host) {
                    const std::uint32_t count = std::min(block.on_each, size - first);
                    look(block.first_host + host, first, count);
                    first += count;
                }
    };
    std::uint32_t own = 0;
    for_each_run([&](std::uint32_t host, std::uint32_t first, std::uint32_t count) {
        if (rank >= first && rank - first < count) own = host;
    });
    std::uint32_t here = 0;
    for_each_run([&](std::uint32_t host, std::uint32_t, std::uint32_t count) {
        if (host == own) here += count;
    });
    return here;
}

} // namespace plexus::bootstrap
