// SPDX-License-Identifier: BSD-3-Clause
#include "zstd/options.h"

#include "common/values.h"
#include "over/module.h"

namespace plexus::zstd {

std::optional<Options> read_options(const plexus_host& host) {
    constexpr std::uint64_t kLeastFrom = 64;
    module::Parameters given(host);
    Options options;
    options.over = over::inner_method(host, "zstd");
    options.level = static_cast<int>(given.count("level", 1, 19));
    options.from = static_cast<std::size_t>(given.size("from", kLeastFrom, SIZE_MAX));
    options.is_always = given.boolean("always");
    if (given.failed() || options.over.empty()) return std::nullopt;
    return options;
}

} // namespace plexus::zstd
