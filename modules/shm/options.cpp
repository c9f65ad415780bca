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
constexpr std::uint32_t kMostHot = 16;

constexpr std::uint64_t kUsuallyPastCaches = 8192;
constexpr std::uint64_t kUsuallyFetched = std::uint64_t{256} << 20;
constexpr char kPolicies[] = "auto, cached, nontemporal or cma";
constexpr char kSizes[] = "auto, or a size such as \"64 KiB\"";

// What stands for a size that the user leaves to us.
constexpr std::string_view kAuto = "auto";

bool read_policy(std::string_view text, CopyPolicy& policy) {
    if (text == kAuto)
        policy = CopyPolicy::automatic;
    else if (text == "cached")
        policy = CopyPolicy::cached;
    else if (text == "nontemporal")
        policy = CopyPolicy::nontemporal;
    else if (text == "cma")
        policy = CopyPolicy::cma;
    else
        return false;
    return true;
}

bool read_from(std::string_view text, std::uint64_t least, std::optional<std::uint64_t>& from) {
    if (text == kAuto) {
        from.reset();
        return true;
    }
    const auto size = plexus::size_in(text);
    if (!size || *size < least) return false;
    from = size;
    return true;
}

bool policy_is_fixed(CopyPolicy policy) {
    return policy == CopyPolicy::cached || policy == CopyPolicy::nontemporal;
}

// Why `limits` contradict themselves, behind the words "copy = ... is not"; null: they don't.
const char* contradiction(const Limits& limits) {
    if (limits.policy == CopyPolicy::cma && !limits.fetch)
        return "possible with cma = off, which forbids cross-memory attach: leave out one of them";
    if (policy_is_fixed(limits.policy) && limits.past_caches_from)
        return "possible with past_caches_from, which says where either way of copying begins: leave out one "
               "of them";
    return nullptr;
}

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
    const std::string cma = given.text("cma");
    if (!read_cma(cma, options.limits)) given.refuse("cma", "auto, on or off");
    options.insist_on_fetch = cma == "on";
    Limits& limits = options.limits;
    if (!read_from(given.text("past_caches_from"), 0, limits.past_caches_from))
        given.refuse("past_caches_from", kSizes);
    if (!read_from(given.text("cma_from"), 1, limits.fetch_from)) given.refuse("cma_from", kSizes);
    if (!read_policy(given.text("copy"), limits.policy))
        given.refuse("copy", kPolicies);
    else if (const char* const why = contradiction(limits); why != nullptr)
        given.refuse("copy", why);
    options.hot = static_cast<std::uint32_t>(given.count("hot", 1, kMostHot));
    options.connect_timeout = given.duration("connect_timeout");
    options.linger = given.duration("linger");
    options.area_idle = given.duration("area_idle");
    if (given.failed()) return std::nullopt;
    return options;
}

CopySet Limits::allowed(std::uint64_t size, std::uint64_t rest, bool can_fetch) const noexcept {
    CopySet set;
    const bool automatic = policy == CopyPolicy::automatic;
    const std::uint64_t usually_fetched = policy == CopyPolicy::cma ? 1 : kUsuallyFetched;
    const bool learns = automatic && size >= CopyChoice::kLeast;
    const bool may_fetch = can_fetch && learns && !fetch_from;
    if (can_fetch && !may_fetch && rest >= fetch_from.value_or(usually_fetched)) return set.add(Copy::fetch);
    if (may_fetch) set.add(Copy::fetch);
    if (learns && !past_caches_from) return set.add(Copy::cached).add(Copy::nontemporal);
    const std::uint64_t usually_past = policy == CopyPolicy::cached        ? UINT64_MAX
                                       : policy == CopyPolicy::nontemporal ? 0
                                                                           : kUsuallyPastCaches;
    return set.add(size >= past_caches_from.value_or(usually_past) ? Copy::nontemporal : Copy::cached);
}

std::int32_t change(Limits& limits, const Options& options, std::string_view key, std::string_view value,
                    std::string& why) {
    Limits changed = limits;
    if (key == "cma") {
        if (!read_cma(value, changed)) why = "cma is auto, on or off";
    } else if (key == "copy") {
        if (!read_policy(value, changed.policy)) why = std::string("copy is ") + kPolicies;
    } else if (key == "past_caches_from") {
        if (!read_from(value, 0, changed.past_caches_from)) why = std::string(key) + " is " + kSizes;
    } else if (key == "cma_from") {
        if (!read_from(value, 1, changed.fetch_from)) why = std::string(key) + " is " + kSizes;
    } else if (key == "eager") {
        const auto size = plexus::size_in(value);
        if (size && *size >= options.limits.eager && *size <= options.area_bytes / 4)
            changed.eager = *size;
        else
            why = "eager of a link is a size from that of the method, " +
                  std::to_string(options.limits.eager) + " bytes, to a quarter of `area`, " +
                  std::to_string(options.area_bytes / 4);
    } else {
        why = std::string(key) + " can be set only when the method is opened";
        return PLEXUS_UNSUPPORTED;
    }
    const char* const contradicts = why.empty() ? contradiction(changed) : nullptr;
    if (contradicts != nullptr) why = std::string("this value of copy is not ") + contradicts;
    if (!why.empty()) return PLEXUS_BAD_ARGUMENT;
    limits = changed;
    return PLEXUS_OK;
}

} // namespace plexus::shm
