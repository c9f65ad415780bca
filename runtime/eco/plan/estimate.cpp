// SPDX-License-Identifier: BSD-3-Clause
#include "plan/estimate.h"

#include "plan/run.h"
#include "topology/refuse.h"

#include <algorithm>

namespace plexus::eco {

double estimate_us(const Plan& plan, const Network& network, const std::vector<double>& least_us) {
    std::vector<double> now(plan.members);
    std::vector<double> drained(plan.members);
    std::vector<Link> links(plan.messages.size());
    std::vector<double> arrival(plan.messages.size());
    const std::string stuck = run(
        plan,
        [&](std::uint32_t number) {
            const Message& message = plan.messages[number];
            links[number] = link_between(network, message.from, message.to,
                                         static_cast<double>(plan.bytes_of(message)), least_us[message.from]);
            arrival[number] = now[message.from] + links[number].arrives_us;
            now[message.from] += links[number].busy_us;
            return true;
        },
        [&](std::uint32_t number) {
            const Rank to = plan.messages[number].to;
            drained[to] = std::max(drained[to] + links[number].drain_us, arrival[number]);
            now[to] = std::max(now[to], drained[to]);
            return true;
        });
    if (!stuck.empty()) refuse(Status::bad_argument, "the plan does not end: {}", stuck);
    return *std::max_element(now.begin(), now.end());
}

double estimate_us(const Plan& plan, const Network& network) {
    if (plan.members != network.size())
        refuse(Status::bad_argument, "a plan of {} members, and a network of {}", plan.members,
               network.size());
    if (const std::string bad = misshapen(plan); !bad.empty())
        refuse(Status::bad_argument, "the plan cannot be run: {}", bad);
    return estimate_us(plan, network, least_latencies(network));
}

} // namespace plexus::eco
