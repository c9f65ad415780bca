// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/options.h"

#include "tools/common/command_line.h"
#include "tools/common/quantity.h"

#include <fmt/format.h>

namespace plexus::tools::benchmark {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 47; // of an address space

} // namespace

std::vector<std::uint64_t> sizes_from(std::string_view verb, std::string_view option,
                                      const std::string& text) {
    std::vector<std::uint64_t> sizes;
    for (const std::string& word : split_list(text)) {
        const auto size = size_in(word);
        if (!size || *size > kMostBytes)
            usage_error(verb, fmt::format("{} \"{}\" is no size: write 8, 64KiB or 1MiB, with commas between",
                                          option, word));
        sizes.push_back(*size);
    }
    return sizes;
}

std::vector<int> cores_from(std::string_view verb, const std::string& text) {
    std::vector<int> cores;
    if (text.empty()) return cores;
    for (const std::string& word : split_list(text)) {
        const auto core = whole_number<int>(word);
        if (!core || *core < 0) usage_error(verb, fmt::format("--cores \"{}\" is no core's number", word));
        cores.push_back(*core);
    }
    return cores;
}

} // namespace plexus::tools::benchmark
