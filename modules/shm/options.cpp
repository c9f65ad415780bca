// SPDX-License-Identifier: BSD-3-Clause
#include "shm/options.h"

#include "common/values.h"
#include "shm/layout.h"

#include <algorithm>
#include <bit>

namespace plexus::shm {
namespace {

constexpr std::uint64_t kLeastRing = 4096;
constexpr std::uint64_t kMostRing = 1 << 20; // a record's size has 24 bits
constexpr std::uint64_t kLeastArea = 1 << 16;
constexpr std::uint64_t kMostArea = 1 << 30;
constexpr std::uint32_t kMostHot = 16;

bool read_cma(std::string_view text, Limits& limits) {
    if (text != "auto" && text != "on" && text != "off") return false;
    limits.fetch = text != "off";
    return true;
}

} // namespace

std::optional<Options> read_options(const plexus_host& host) {
    module::Parameters given(host);
    Options options;
    const std::uint64_t ring = given.size("ring", kLeastRing, kMostRing);
    options.area_bytes = given.size("area", kLeastArea, kMostArea);
    if (!std::has_single_bit(ring)) given.refuse("ring", "a power of two");
    if (!std::has_single_bit(options.area_bytes)) given.refuse("area", "a power of two");
    options.ring_lines = static_cast<std::uint32_t>(ring / kLineBytes);
    // A message in the area takes at most a quarter of it, so that several are on their way.
    options.limits.eager = std::min(given.size("eager", kLineBytes, kMostArea / 4), options.area_bytes / 4);
    options.inline_bytes = given.size("inline", kLineBody, kMostRing / 4); // and what the ring permits
    options.past_caches_from = given.size("past_caches_from", 0, UINT64_MAX);
    options.limits.fetch_from = given.size("cma_from", 1, UINT64_MAX);
    const std::string cma = given.text("cma");
    if (!read_cma(cma, options.limits)) given.refuse("cma", "auto, on or off");
    options.insist_on_fetch = cma == "on";
    options.hot = static_cast<std::uint32_t>(given.count("hot", 1, kMostHot));
    options.connect_timeout = given.duration("connect_timeout");
    options.linger = given.duration("linger");
    options.area_idle = given.duration("area_idle");
    if (given.failed()) return std::nullopt;
    return options;
}

std::int32_t change(Limits& limits, const Options& options, std::string_view key, std::string_view value,
                    std::string& why) {
    if (key == "cma") {
        if (read_cma(value, limits)) return PLEXUS_OK;
        why = "cma is auto, on or off";
        return PLEXUS_BAD_ARGUMENT;
    }
    if (key != "eager" && key != "cma_from") {
        why = std::string(key) + " can be set only when the method is opened";
        return PLEXUS_UNSUPPORTED;
    }
    const auto size = module::parse_size(value);
    if (key == "cma_from" && size && *size > 0) {
        limits.fetch_from = *size;
        return PLEXUS_OK;
    }
    if (key == "eager" && size && *size >= options.limits.eager && *size <= options.area_bytes / 4) {
        limits.eager = *size;
        return PLEXUS_OK;
    }
    why = key == "eager"
              ? "eager of a link is a size from that of the method, " + std::to_string(options.limits.eager) +
                    " bytes, to a quarter of `area`, " + std::to_string(options.area_bytes / 4)
              : std::string(key) + " is a size such as \"64 KiB\"";
    return PLEXUS_BAD_ARGUMENT;
}

} // namespace plexus::shm
