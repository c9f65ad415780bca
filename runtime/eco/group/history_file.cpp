// SPDX-License-Identifier: BSD-3-Clause
// The file of a history: read as a whole, and replaced as a whole.
#include "base/bounded_file.h"
#include "base/replace_file.h"
#include "plexus/eco/history.h"

namespace plexus::eco {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

} // namespace

History load_history(const std::string& path) {
    return read_history(read_bounded_file(path, kLargestFile, "is larger than 64 MiB: that is no history"),
                        path);
}

void save_history(const History& history, const std::string& path) { replace_file(path, to_toml(history)); }

} // namespace plexus::eco
