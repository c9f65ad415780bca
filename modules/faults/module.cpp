// SPDX-License-Identifier: BSD-3-Clause
#include "faults/module.h"

#include "faults/link.h"

#include <algorithm>
#include <utility>

namespace plexus::faults {

Module::Module(const plexus_host& outer, Plan plan)
  : over::Module(outer, plan.over)
  , plan_(std::move(plan)) {}

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    std::optional<Plan> plan = read_plan(host);
    if (!plan) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, *std::move(plan));
    return made->open_inner();
}

std::unique_ptr<over::Link> Module::make_link() {
    return std::make_unique<Link>(*this, plan_.seed * 0x100000001b3u + links_made_++);
}

std::int32_t Module::turn() {
    if (holding_.empty()) return 0;
    const auto now = std::chrono::steady_clock::now();
    std::int32_t handled = 0;
    for (std::size_t i = 0; i < holding_.size();) {
        Link& link = *holding_[i]; // a callback may add to holding_
        handled += link.release(now);
        if (link.holding()) {
            ++i;
        } else {
            std::erase(holding_, &link);
        }
    }
    return handled;
}

std::int32_t Module::rest(std::uint64_t& sleep_ns) {
    const auto now = std::chrono::steady_clock::now();
    for (const Link* link : holding_) {
        if (!link->holding()) continue; // dropped since, with its link
        if (link->waits_for_polls() || link->due() <= now) return PLEXUS_AGAIN;
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(link->due() - now);
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(left.count()));
    }
    return PLEXUS_OK;
}

void Module::forget(over::Link& link) { std::erase(holding_, &static_cast<Link&>(link)); }

void Module::holds_back(Link& link) {
    if (std::find(holding_.begin(), holding_.end(), &link) == holding_.end()) holding_.push_back(&link);
}

} // namespace plexus::faults
