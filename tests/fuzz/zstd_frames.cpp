// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: a frame that a peer of `zstd` sends, as its receiver reads it. Whatever it says, nothing
// is written outside a place of the size that it claims, and a message that is taken has exactly that size.
//
// The input: the frame without its mark.
#include "zstd/codec.h"
#include "zstd/frame.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace plexus::zstd;

constexpr std::uint64_t kMost = 256 * 1024;
constexpr std::size_t kGuard = 64;

void require(bool holds) {
    if (!holds) std::abort();
}

void read_frame(std::span<const std::byte> frame) {
    Prefix prefix;
    if (frame.size() < kPrefix || read_prefix(frame, frame.size(), kMost, prefix) != nullptr) return;
    require(prefix.size <= kMost && prefix.head <= prefix.size && kPrefix + prefix.head <= frame.size());
    const std::span<const std::byte> body = frame.subspan(kPrefix + prefix.head);
    const auto rest = static_cast<std::size_t>(prefix.size) - prefix.head;
    if (prefix.is_stored) {
        require(body.size() == rest);
        return;
    }
    static Unpacker unpacker;
    std::vector<std::byte> place(rest + kGuard, std::byte{0x5a});
    const char* const wrong = unpacker.unpack(body, std::span(place).first(rest));
    require((Unpacker::fault_of(body, rest) == nullptr) || wrong != nullptr);
    require(std::all_of(place.end() - kGuard, place.end(),
                        [](std::byte each) { return each == std::byte{0x5a}; }));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> frame(kMark.size() + size);
    std::memcpy(frame.data(), kMark.data(), kMark.size());
    if (size > 0) std::memcpy(frame.data() + kMark.size(), data, size);
    read_frame(frame);
    return 0;
}
