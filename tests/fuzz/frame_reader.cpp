// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the reader of frames in a byte stream, as tcp uses it, over bytes that a peer chose.
// However the stream is cut and whatever the budget, the host is told the same; no byte is written outside a
// place that the host gave; each placement ends once.
#include "common/frames.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

using namespace plexus::module;

/// Ends the run: the fuzzer keeps the input.
void require(bool holds) {
    if (!holds) std::abort();
}

constexpr std::size_t kMostPlaced = 64 * 1024;

struct Event {
    enum class Is : std::uint8_t { delivered, asked, placed, lost } is;
    std::uint64_t size;
    std::vector<std::byte> bytes;
    bool operator==(const Event&) const = default;
};

/// Takes what the reader hands over. Every third large message finds no place.
struct Host {
    Host() {
        table.deliver = [](void* cookie, plexus_view message) {
            const auto* bytes = static_cast<const std::byte*>(message.data);
            require(reinterpret_cast<std::uintptr_t>(bytes) % 8 == 0);
            static_cast<Host*>(cookie)->events.push_back(
                {Event::Is::delivered, message.size, {bytes, bytes + message.size}});
        };
        table.place = [](void* cookie, plexus_view head, std::size_t rest, void** where, void** token) {
            auto& host = *static_cast<Host*>(cookie);
            const auto* bytes = static_cast<const std::byte*>(head.data);
            require(head.size <= PLEXUS_HEAD_MAX && host.place == nullptr);
            host.events.push_back({Event::Is::asked, rest, {bytes, bytes + head.size}});
            if (++host.asked % 3 == 0 || rest > kMostPlaced) return std::int32_t{PLEXUS_TOO_LARGE};
            host.place =
                std::make_unique<std::byte[]>(rest); // of that size: a sanitizer sees a byte too many
            host.placing = rest;
            *where = host.place.get();
            *token = &host;
            return std::int32_t{PLEXUS_OK};
        };
        table.placed = [](void* cookie, void* token, std::int32_t status) {
            auto& host = *static_cast<Host*>(cookie);
            require(token == cookie && host.place != nullptr);
            const std::byte* const bytes = host.place.get();
            if (status == PLEXUS_OK) {
                host.events.push_back({Event::Is::placed, host.placing, {bytes, bytes + host.placing}});
            } else {
                host.events.push_back({Event::Is::lost, host.placing, {}});
            }
            host.place.reset();
        };
    }
    FrameReader::Owner owner() { return {table, this, given_up, border}; }

    plexus_host table{};
    std::atomic<bool> given_up{false};
    plexus::Mutex border;
    std::uint64_t asked = 0;
    std::size_t placing = 0;
    std::unique_ptr<std::byte[]> place;
    std::vector<Event> events;
};

/// Where a stream is cut, and how many messages a turn may hand over, from the first bytes of the input.
struct Cuts {
    std::vector<std::uint8_t> bytes;
    std::size_t at = 0;
    std::size_t next() { return bytes.empty() ? SIZE_MAX : std::size_t{bytes[at++ % bytes.size()]} * 3 + 1; }
};

/// Feeds `stream` as the reader of a socket does. Returns whether it made sense.
bool feed(const FrameReader::Limits& limits, Host& host, const std::vector<std::byte>& stream, Cuts cuts) {
    FrameReader reader(limits);
    std::size_t at = 0;
    std::vector<std::byte> kept;
    std::vector<std::uint64_t> room; // aligned
    for (;;) {
        std::size_t cut = std::min(cuts.next(), stream.size() - at);
        auto budget = static_cast<std::uint32_t>(std::min<std::size_t>(cuts.next() % 8 + 1, 8));
        if (const auto landing = reader.landing(); !landing.empty() && kept.empty()) {
            if (at == stream.size()) break;
            cut = std::min(cut, landing.size());
            std::memcpy(landing.data(), stream.data() + at, cut);
            at += cut;
            reader.landed(host.owner(), cut, budget);
            continue;
        }
        const std::size_t offset = (8 - reader.skew()) % 8;
        room.assign((offset + kept.size() + cut + 7) / 8, 0);
        auto* const start = reinterpret_cast<std::byte*>(room.data()) + offset;
        if (!kept.empty()) std::memcpy(start, kept.data(), kept.size());
        if (cut > 0) std::memcpy(start + kept.size(), stream.data() + at, cut);
        at += cut;
        const std::span<const std::byte> bytes(start, kept.size() + cut);
        const std::size_t taken = reader.take(host.owner(), bytes, budget);
        require(taken <= bytes.size());
        if (reader.corrupt() != nullptr) break;
        kept.assign(bytes.begin() + static_cast<std::ptrdiff_t>(taken), bytes.end());
        const bool whole = !kept.empty() && kept.size() >= reader.enough(kept);
        require(taken > 0 || cut > 0 || !whole); // it gets on
        if (at == stream.size() && !whole && reader.landing().empty()) break;
    }
    const bool sense = reader.corrupt() == nullptr;
    reader.abandon(host.owner());
    reader.abandon(host.owner());
    require(host.place == nullptr);
    return sense;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kCuts = 6;
    if (size < kCuts + 2) return 0;
    const FrameReader::Limits limits{PLEXUS_HEAD_MAX + std::uint64_t{data[0]} * 4,
                                     data[1] % 4 == 0 ? 0 : std::uint64_t{data[1]} * 64};
    const auto* const bytes = reinterpret_cast<const std::byte*>(data);
    const std::vector<std::byte> stream(bytes + 2 + kCuts, bytes + size);

    Host whole;
    const bool sense = feed(limits, whole, stream, {});
    Host cut;
    require(feed(limits, cut, stream, {{data + 2, data + 2 + kCuts}}) == sense);
    require(whole.events == cut.events);
    for (const Event& event : whole.events)
        if (event.is == Event::Is::delivered) require(event.size <= limits.eager);
    return 0;
}
