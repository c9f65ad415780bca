// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: a row of the method `forward`, whose bytes come in pointers from anybody and hold the
// table of a forwarder, with rows of the same kind in it. What is taken for one is written as the same bytes
// again, and within a limit as a shorter one of the same forwarder, or not at all. The way has an end.
#include "forward/via.h"
#include "wire/table.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace plexus;
using namespace plexus::forward;

void require(bool holds) {
    if (!holds) std::abort();
}

bool is_of_one_forwarder(const Via& a, const Via& b) {
    return a.instance == b.instance && a.name == b.name && a.hub == b.hub;
}

void check_way(const Via& via) {
    const ContextId self{{7}};
    const auto count = hops(via, self);
    require(count ? *count >= 1 && *count <= kMostHops
                  : count.status() == Status::no_method || count.status() == Status::bad_archive);
    require(!hops(via, via.hub.context)); // a context is not on the way to itself
    require(!via.text().empty());
}

void check_limit(const Via& via, std::size_t whole, std::size_t limit) {
    const wire::Bytes bytes = encode(via, limit);
    require(bytes.size() <= std::min(limit, whole));
    if (bytes.empty()) return;
    const auto again = decode(bytes);
    require(again && is_of_one_forwarder(*again, via) && again->table.size() <= via.table.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto given = std::as_bytes(std::span(data, size));
    const wire::Bytes bytes(given.begin(), given.end()); // a copy of exactly that size
    const auto via = decode(bytes);
    if (!via) {
        require(via.status() == Status::bad_archive);
        return 0;
    }
    require(via->name.size() <= 31 && via->url.size() <= kLongestUrl);
    require(via->table.prescribed().empty());
    require(encode(*via, SIZE_MAX) == bytes);
    check_way(*via);
    for (std::size_t limit = bytes.size() - 1; limit > 0; limit /= 2) check_limit(*via, bytes.size(), limit);
    return 0;
}
