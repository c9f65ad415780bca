// SPDX-License-Identifier: BSD-3-Clause
#include "plan/estimate.h"

#include "plan/run.h"
#include "topology/refuse.h"

#include <algorithm>

namespace plexus::eco {

namespace {

/// Calls on_flight(message, flight) as each message is taken. Returns when the last is done.
template <class OnFlight>
double fly(const Plan& plan, const Network& network, const std::vector<double>& least_us,
           OnFlight&& on_flight) {
    std::vector<double> now(plan.members);
    std::vector<double> drained(plan.members);
    std::vector<Link> links(plan.messages.size());
    std::vector<double> sent(plan.messages.size());
    const std::string stuck = run(
        plan,
        [&](std::uint32_t number) {
            const Message& message = plan.messages[number];
            links[number] = link_between(network, message.from, message.to,
                                         static_cast<double>(plan.bytes_of(message)), least_us[message.from]);
            sent[number] = now[message.from];
            now[message.from] += links[number].busy_us;
            return true;
        },
        [&](std::uint32_t number) {
            const Rank to = plan.messages[number].to;
            const Link& link = links[number];
            drained[to] = std::max(drained[to] + link.drain_us, sent[number] + link.arrives_us);
            now[to] = std::max(now[to], drained[to]);
            on_flight(number, Flight{sent[number], sent[number] + link.busy_us, now[to]});
            return true;
        });
    if (!stuck.empty()) refuse(Status::bad_argument, "the plan does not end: {}", stuck);
    return *std::max_element(now.begin(), now.end());
}

void check(const Plan& plan, const Network& network) {
    if (plan.members != network.size())
        refuse(Status::bad_argument, "a plan of {} members, and a network of {}", plan.members,
               network.size());
    if (const std::string bad = misshapen(plan); !bad.empty())
        refuse(Status::bad_argument, "the plan cannot be run: {}", bad);
}

} // namespace

double estimate_us(const Plan& plan, const Network& network, const std::vector<double>& least_us) {
    return fly(plan, network, least_us, [](std::uint32_t, const Flight&) {});
}

double estimate_us(const Plan& plan, const Network& network) {
    check(plan, network);
    return estimate_us(plan, network, least_latencies(network));
}

std::vector<Flight> timeline(const Plan& plan, const Network& network) {
    check(plan, network);
    std::vector<Flight> flights(plan.messages.size());
    fly(plan, network, least_latencies(network),
        [&](std::uint32_t number, const Flight& flight) { flights[number] = flight; });
    return flights;
}

} // namespace plexus::eco
