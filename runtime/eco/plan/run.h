// SPDX-License-Identifier: BSD-3-Clause
// The order in which the steps of a plan can happen: each member's as it is written, a message
// taken after it was sent. For those who prove a plan and for those who time it. Pure.
#pragma once

#include "plexus/eco/plan.h"

#include <string>
#include <vector>

namespace plexus::eco {

/// What is wrong with the plan's shape: a member, block or message that is not there, or is
/// there twice. Empty: nothing.
std::string misshapen(const Plan& plan);

/// Calls on_send(message) and on_take(message), by their places, in an order that can happen;
/// either may return false to stop. Returns who waits for whom for ever, or nothing.
/// The plan is not misshapen.
template <class OnSend, class OnTake>
std::string run(const Plan& plan, OnSend&& on_send, OnTake&& on_take) {
    std::vector<std::size_t> next(plan.members);
    std::vector<char> sent(plan.messages.size());
    std::vector<char> waiting(plan.members);
    std::vector<Rank> ready;
    for (Rank member = plan.members; member-- > 0;) ready.push_back(member);
    while (!ready.empty()) {
        const Rank member = ready.back();
        ready.pop_back();
        waiting[member] = 0;
        const std::vector<Step>& steps = plan.steps[member];
        for (std::size_t& at = next[member]; at < steps.size(); ++at) {
            const std::uint32_t message = steps[at].message;
            if (steps[at].send) {
                if (!on_send(message)) return {};
                sent[message] = 1;
                const Rank to = plan.messages[message].to;
                const bool awaited = waiting[to] != 0 && plan.steps[to][next[to]].message == message;
                if (awaited) ready.push_back(to);
            } else if (sent[message] == 0) {
                waiting[member] = 1;
                break;
            } else if (!on_take(message)) {
                return {};
            }
        }
    }
    for (Rank member = 0; member < plan.members; ++member)
        if (waiting[member] != 0)
            return "member " + std::to_string(member) + " waits for member " +
                   std::to_string(plan.messages[plan.steps[member][next[member]].message].from) + " for ever";
    return {};
}

} // namespace plexus::eco
