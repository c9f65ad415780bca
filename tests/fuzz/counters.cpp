// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the memory in which a context shows its counters, behind a good beginning. Whatever is
// refused says why; what is read has no more values than the memory has words.
#include "counters/decode.h"
#include "counters/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace plexus::counters;
    std::vector<std::uint64_t> words(kHeaderWords + size / 8);
    if (size > 0) std::memcpy(words.data(), data, std::min(size, words.size() * 8));
    words[offsetof(Header, magic) / 8] = kMagic;
    words[offsetof(Header, words) / 8] = words.size();
    words[offsetof(Header, version) / 8] = std::uint64_t{kMajor} << 32;
    const auto found = decode(words);
    if (!found) {
        if (found.failure().why.empty()) std::abort();
        return 0;
    }
    std::size_t values = 0;
    for (const plexus::CounterTable& table : found->tables)
        for (const auto& row : table.rows) values += row.size();
    if (values > words.size()) std::abort();
    return 0;
}
