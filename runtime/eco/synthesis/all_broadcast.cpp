// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/all_broadcast.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace plexus::eco {
namespace {

class Spreader {
  public:
    Spreader(const Routes& routes, Random& random)
      : routes_(routes)
      , random_(random)
      , placement_(Placement::of_pairs(routes))
      , has_(std::size_t{routes.terminals()} * routes.terminals())
      , comes_(has_.size())
      , holders_(routes.terminals(), 1)
      , busy_(placement_.resources(), Assignment::kNowhere) {
        for (std::uint32_t terminal = 0; terminal < n(); ++terminal) has_[cell(terminal, terminal)] = true;
        comes_ = has_;
    }

    bool done() const noexcept {
        return std::all_of(holders_.begin(), holders_.end(),
                           [this](std::uint32_t each) { return each == n(); });
    }

    Round next(std::uint32_t round) {
        Round out;
        std::vector<std::uint32_t> receivers(n());
        std::iota(receivers.begin(), receivers.end(), 0U);
        for (bool more = true; more;) {
            more = false;
            random_.shuffle(receivers);
            for (const std::uint32_t receiver : receivers)
                if (auto transfer = serve(receiver, round)) {
                    out.push_back(*std::move(transfer));
                    more = true;
                }
        }
        has_ = comes_;
        return out;
    }

  private:
    std::uint32_t n() const noexcept { return routes_.terminals(); }
    std::size_t cell(std::uint32_t terminal, std::uint32_t message) const noexcept {
        return std::size_t{terminal} * n() + message;
    }

    std::optional<Transfer> serve(std::uint32_t receiver, std::uint32_t round) {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> senders; // by distance, of equals any
        for (std::uint32_t sender = 0; sender < n(); ++sender) {
            const std::uint64_t distance = routes_.distance(routes_.graph().terminals[sender].in, receiver);
            if (sender != receiver) senders.emplace_back(distance << 32 | random_.below(1U << 16), sender);
        }
        std::sort(senders.begin(), senders.end());
        for (const auto& [_, sender] : senders) {
            const auto message = rarest(sender, receiver);
            if (!message) continue;
            const auto way = free_way(sender, receiver, round);
            if (!way) continue;
            for (const std::uint32_t resource : placement_.used_by(*way)) busy_[resource] = round;
            comes_[cell(receiver, *message)] = true;
            ++holders_[*message];
            Transfer out = placement_.transfer(*way);
            out.msg = *message;
            return out;
        }
        return std::nullopt;
    }

    std::optional<std::uint32_t> rarest(std::uint32_t sender, std::uint32_t receiver) {
        std::optional<std::uint32_t> out;
        const std::uint32_t first = random_.below(n());
        for (std::uint32_t turn = 0; turn < n(); ++turn) {
            const std::uint32_t message = (first + turn) % n();
            if (has_[cell(sender, message)] && !comes_[cell(receiver, message)] &&
                (!out || holders_[message] < holders_[*out]))
                out = message;
        }
        return out;
    }

    std::optional<std::uint32_t> free_way(std::uint32_t sender, std::uint32_t receiver, std::uint32_t round) {
        const Task& task = placement_.tasks()[sender * (n() - 1) + receiver - (receiver > sender ? 1 : 0)];
        const std::uint32_t first = random_.below(task.ways);
        for (std::uint32_t turn = 0; turn < task.ways; ++turn) {
            const std::uint32_t way = task.first_way + (first + turn) % task.ways;
            const auto used = placement_.used_by(way);
            if (std::none_of(used.begin(), used.end(),
                             [&](std::uint32_t each) { return busy_[each] == round; }))
                return way;
        }
        return std::nullopt;
    }

    const Routes& routes_;
    Random& random_;
    Placement placement_;                ///< a task for each pair of terminals
    std::vector<bool> has_;              ///< [terminal * terminals + message], before this round
    std::vector<bool> comes_;            ///< the same, after this round
    std::vector<std::uint32_t> holders_; ///< of each message
    std::vector<std::uint32_t> busy_;    ///< the last round in which each resource was used
};

} // namespace

std::vector<Round> all_round(const Round& ring) {
    const std::size_t n = ring.size();
    std::vector<std::uint32_t> before(n);
    for (const Transfer& each : ring) before[each.dst] = each.src;
    std::vector<std::uint32_t> message(n); // that each terminal passes on
    std::iota(message.begin(), message.end(), 0U);
    std::vector<Round> out(n - 1, ring);
    for (Round& round : out) {
        for (Transfer& each : round) each.msg = message[each.src];
        std::vector<std::uint32_t> passed(n);
        for (std::size_t terminal = 0; terminal < n; ++terminal) passed[terminal] = message[before[terminal]];
        message.swap(passed);
    }
    return out;
}

std::vector<Round> spread(const Routes& routes, Random& random, const std::function<bool()>& go_on) {
    Spreader spreader(routes, random);
    std::vector<Round> out;
    while (!spreader.done()) {
        if (!go_on()) return {};
        out.push_back(spreader.next(static_cast<std::uint32_t>(out.size())));
    }
    return out;
}

} // namespace plexus::eco
