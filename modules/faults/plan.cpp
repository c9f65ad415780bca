// SPDX-License-Identifier: BSD-3-Clause
#include "faults/plan.h"

#include "common/values.h"
#include "over/module.h"

namespace plexus::faults {

std::optional<Plan> read_plan(const plexus_host& host) {
    constexpr std::uint64_t kMost = UINT32_MAX;
    module::Parameters given(host);
    const auto count = [&given](const char* key) {
        return static_cast<std::uint32_t>(given.count(key, 0, kMost));
    };
    Plan plan;
    plan.over = over::inner_method(host, "faults");
    plan.seed = given.count("seed", 0, UINT64_MAX);
    plan.delay = given.duration("delay");
    plan.withhold_polls = count("withhold");
    plan.again_every = count("again_every");
    plan.drop_link_every = count("drop_link_every");
    plan.refuse_connect = count("refuse_connect");
    // Always AGAIN would never let a message through.
    if (plan.again_every == 1) given.refuse("again_every", "0, or 2 and more");
    if (given.failed() || plan.over.empty()) return std::nullopt;
    return plan;
}

} // namespace plexus::faults
