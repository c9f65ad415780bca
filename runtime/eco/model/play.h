// SPDX-License-Identifier: BSD-3-Clause
// A plan played with what models say of each message: what they predict of operations. Pure.
#pragma once

#include "plan/run.h"
#include "plexus/eco/model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace plexus::eco {

/// A model's cost for each kind of message, computed once. Refers to the model.
class KnownCosts {
  public:
    /// Of a group of so many members; a model that has a processor for each of them tells them apart.
    KnownCosts(const Model& model, std::size_t members, std::size_t level = 0);
    LinkCost of(std::uint64_t bytes, std::size_t sender, std::size_t receiver);

  private:
    const Model* model_;
    bool has_each_member_;
    std::size_t level_;
    std::map<std::tuple<std::uint64_t, std::size_t, std::size_t>, LinkCost> known_;
};

/// Ends that agree to nine digits are equal.
inline bool is_earlier(double one_s, double other_s) noexcept { return one_s < other_s * (1 - 1e-9); }

/// When the last message has been taken in, if cost_of(message) is a LinkCost: who sends is busy for its
/// spacing, and so is who takes it in.
template <class CostOf>
double play_s(const Plan& plan, CostOf&& cost_of) {
    std::vector<double> clock_s(plan.members, 0);
    std::vector<double> taken_s(plan.members, 0);
    std::vector<double> arrival_s(plan.messages.size(), 0);
    run(
        plan,
        [&](std::uint32_t place) {
            const Message& message = plan.messages[place];
            const LinkCost cost = cost_of(message);
            clock_s[message.from] += cost.spacing_s;
            arrival_s[place] = clock_s[message.from] + cost.latency_s;
            return true;
        },
        [&](std::uint32_t place) {
            const Message& message = plan.messages[place];
            double& taken = taken_s[message.to];
            taken = std::max(arrival_s[place], taken + LinkCost(cost_of(message)).spacing_s);
            clock_s[message.to] = std::max(clock_s[message.to], taken);
            return true;
        });
    return *std::max_element(taken_s.begin(), taken_s.end());
}

} // namespace plexus::eco
