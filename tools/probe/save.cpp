// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/save.h"

#include "runtime/base/replace_file.h"

#include <algorithm>
#include <ctime>

namespace plexus::tools::probe {
namespace {

constexpr std::chrono::seconds kLeastInterval{2};
constexpr int kShare = 20;

} // namespace

std::string date_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

void save(const eco::Map& map, const std::string& file) { replace_file(file, to_toml(map)); }

Saver::Saver(std::string path)
  : path_(std::move(path))
  , next_(Clock::now() + kLeastInterval) {}

void Saver::now(const eco::Map& map) {
    const auto start = Clock::now();
    save(map, path_);
    const auto end = Clock::now();
    next_ = end + std::max<Clock::duration>(kLeastInterval, kShare * (end - start));
}

void Saver::maybe(const eco::Map& map) {
    if (Clock::now() >= next_) now(map);
}

} // namespace plexus::tools::probe
