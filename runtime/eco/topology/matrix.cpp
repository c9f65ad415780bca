// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/map.h"

#include "topology/refuse.h"

#include <algorithm>
#include <cmath>

namespace plexus::eco {
namespace {

double both_ways(double there, double back, Symmetry algorithm) {
    if (std::isinf(there) || std::isinf(back)) return std::min(there, back);
    switch (algorithm) {
    case Symmetry::refuse:
        break;
    case Symmetry::min:
        return std::min(there, back);
    case Symmetry::max:
        return std::max(there, back);
    case Symmetry::mean:
        return there / 2 + back / 2;
    }
    return there;
}

std::string show(double cost) { return std::isinf(cost) ? "not measured" : fmt::format("{} us", cost); }

} // namespace

CostMatrix::CostMatrix(std::size_t hosts)
  : hosts_(hosts)
  , costs_(hosts * hosts, kNotMeasured) {
    for (std::size_t host = 0; host < hosts; ++host) costs_[host * hosts + host] = 0;
}

void CostMatrix::set(std::size_t from, std::size_t to, double cost) {
    if (from >= hosts_ || to >= hosts_) refuse(Status::bad_argument, "the matrix has no such host");
    if (!(cost >= 0)) refuse(Status::bad_argument, "a cost is a number from 0 up, not {}", cost);
    if (from != to) costs_[from * hosts_ + to] = cost;
}

void CostMatrix::set_both(std::size_t a, std::size_t b, double cost) {
    set(a, b, cost);
    set(b, a, cost);
}

CostMatrix symmetric(const CostMatrix& costs, Symmetry algorithm, std::span<const std::string> hosts) {
    const auto name = [&](std::size_t host) {
        return host < hosts.size() ? hosts[host] : fmt::format("host {}", host);
    };
    CostMatrix out(costs.size());
    for (std::size_t a = 0; a < costs.size(); ++a)
        for (std::size_t b = a + 1; b < costs.size(); ++b) {
            const double there = costs(a, b);
            const double back = costs(b, a);
            if (there != back && algorithm == Symmetry::refuse)
                refuse(
                    Status::bad_config,
                    "the costs are not the same both ways: {} to {} is {}, {} to {} is {}; say whether the "
                    "min, the max or the mean of the two counts",
                    name(a), name(b), show(there), name(b), name(a), show(back));
            out.set_both(a, b, there == back ? there : both_ways(there, back, algorithm));
        }
    return out;
}

} // namespace plexus::eco
