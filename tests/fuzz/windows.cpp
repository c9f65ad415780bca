// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the send and receive windows of the transport against their model. An input is a history
// of two channels and their links, which are cut, half open, slow and replaced: its first byte says whether
// the method keeps copies, each further byte is a choice. Every frame arrives once, in order, and the windows
// are empty at the end.
#include "unit/transport/window_model.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace {

/// A link costs a history three choices or more: the receiver remembers the streams of all of them.
constexpr std::size_t kMostChoices = 3 * (plexus::transport::PastStreams::kMost - 2);

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool retains = data[0] % 8 != 0;
    const std::vector<std::uint8_t> choices(data + 1, data + std::min(size, kMostChoices + 1));
    const std::string wrong = plexus::testing::WindowModel(choices, retains).run();
    if (wrong.empty()) return 0;
    std::cerr << wrong << '\n';
    std::abort(); // the fuzzer keeps the input
}
