// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/all_broadcast.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace plexus::eco {
namespace {

class Spreader {
  public:
    Spreader(const Placement& pairs, Random& random)
      : routes_(pairs.routes())
      , random_(random)
      , placement_(pairs)
      , words_((routes_.terminals() + 63) / 64)
      , has_(routes_.terminals() * words_)
      , holders_(routes_.terminals(), 1)
      , busy_(placement_.resources(), Assignment::kNowhere) {
        for (std::uint32_t terminal = 0; terminal < n(); ++terminal)
            row(has_, terminal)[terminal / 64] |= std::uint64_t{1} << (terminal % 64);
        comes_ = has_;
        sort_senders();
    }

    bool done() const noexcept {
        return std::all_of(holders_.begin(), holders_.end(),
                           [this](std::uint32_t each) { return each == n(); });
    }

    /// Not whole where `go_on` said false.
    Round next(std::uint32_t round, const std::function<bool()>& go_on) {
        Round out;
        std::vector<std::uint32_t> receivers(n());
        std::iota(receivers.begin(), receivers.end(), 0U);
        while (!receivers.empty()) {
            random_.shuffle(receivers);
            // What a receiver does not get now it does not get later in the round.
            std::erase_if(receivers, [&](std::uint32_t receiver) {
                auto transfer = go_on() ? serve(receiver, round) : std::nullopt;
                if (transfer) out.push_back(*std::move(transfer));
                return !transfer;
            });
        }
        has_ = comes_;
        return out;
    }

  private:
    using Words = std::vector<std::uint64_t>;

    std::uint32_t n() const noexcept { return routes_.terminals(); }
    std::uint64_t* row(Words& words, std::uint32_t terminal) const noexcept {
        return words.data() + terminal * words_;
    }
    const std::uint64_t* row(const Words& words, std::uint32_t terminal) const noexcept {
        return words.data() + terminal * words_;
    }

    /// For each receiver the other terminals, the nearest first.
    void sort_senders() {
        for (std::uint32_t receiver = 0; receiver < n(); ++receiver) {
            const auto begin = nearest_.end() - nearest_.begin();
            for (std::uint32_t sender = 0; sender < n(); ++sender)
                if (sender != receiver) nearest_.push_back(sender);
            std::stable_sort(nearest_.begin() + begin, nearest_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return distance(a, receiver) < distance(b, receiver);
            });
        }
    }

    std::uint32_t distance(std::uint32_t sender, std::uint32_t receiver) const noexcept {
        return routes_.distance(routes_.graph().terminals[sender].in, receiver);
    }

    std::optional<Transfer> serve(std::uint32_t receiver, std::uint32_t round) {
        const auto first = nearest_.begin() + std::ptrdiff_t{receiver} * (n() - 1);
        const auto last = first + (n() - 1);
        std::vector<std::uint32_t> equals; // as far away as each other, in any order
        for (auto next = first; next != last;) {
            const std::uint32_t far = distance(*next, receiver);
            equals.clear();
            for (; next != last && distance(*next, receiver) == far; ++next)
                if (has_for(*next, receiver)) equals.push_back(*next);
            random_.shuffle(equals);
            for (const std::uint32_t sender : equals)
                if (const auto way = free_way(sender, receiver, round)) return take(*way, round);
        }
        return std::nullopt;
    }

    Transfer take(std::uint32_t way, std::uint32_t round) {
        for (const std::uint32_t resource : placement_.used_by(way)) busy_[resource] = round;
        Transfer out = placement_.transfer(way);
        out.msg = rarest(out.src, out.dst);
        row(comes_, out.dst)[out.msg / 64] |= std::uint64_t{1} << (out.msg % 64);
        ++holders_[out.msg];
        return out;
    }

    /// True if `sender` can send what does not come to `receiver` yet.
    bool has_for(std::uint32_t sender, std::uint32_t receiver) const noexcept {
        const std::uint64_t* const has = row(has_, sender);
        const std::uint64_t* const comes = row(comes_, receiver);
        for (std::size_t word = 0; word < words_; ++word)
            if ((has[word] & ~comes[word]) != 0) return true;
        return false;
    }

    /// The message that the fewest have, of equals the first from a random one on. There is one.
    std::uint32_t rarest(std::uint32_t sender, std::uint32_t receiver) {
        std::uint32_t out = 0;
        std::uint64_t least = ~std::uint64_t{0};
        const std::uint32_t first = random_.below(n());
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t left = row(has_, sender)[word] & ~row(comes_, receiver)[word]; left != 0;
                 left &= left - 1) {
                const auto message =
                    static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
                const std::uint64_t turn = (message + n() - first) % n();
                const std::uint64_t rank = std::uint64_t{holders_[message]} << 32 | turn;
                if (rank >= least) continue;
                least = rank;
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
    const Placement& placement_;         ///< a task for each pair of terminals
    std::size_t words_;                  ///< of a terminal: a bit for each message
    Words has_;                          ///< before this round
    Words comes_;                        ///< after this round
    std::vector<std::uint32_t> holders_; ///< of each message
    std::vector<std::uint32_t> busy_;    ///< the last round in which each resource was used
    std::vector<std::uint32_t> nearest_; ///< [receiver * (terminals - 1) + place]: senders
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

std::vector<Round> spread(const Placement& pairs, Random& random, const std::function<bool()>& go_on) {
    Spreader spreader(pairs, random);
    std::vector<Round> out;
    while (!spreader.done()) {
        out.push_back(spreader.next(static_cast<std::uint32_t>(out.size()), go_on));
        if (!go_on()) return {};
    }
    return out;
}

} // namespace plexus::eco
