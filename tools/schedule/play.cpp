// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/play.h"

#include "plexus/error.h"
#include "tools/schedule/refuse.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <queue>
#include <utility>

namespace plexus::tools::schedule {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

std::string name_of(const eco::Transfer& transfer) {
    return transfer.msg == transfer.src
               ? fmt::format("{} -> {}", transfer.src, transfer.dst)
               : fmt::format("{} -> {} (message of {})", transfer.src, transfer.dst, transfer.msg);
}

void check_path(const eco::LinkGraph& graph, const eco::Transfer& transfer) {
    const auto terminals = graph.terminals.size();
    if (transfer.src >= terminals || transfer.dst >= terminals || transfer.msg >= terminals)
        refuse(terminals == 0
                   ? name_of(transfer) + ": the network has no terminals"
                   : fmt::format("{}: the network has terminals 0 to {}", name_of(transfer), terminals - 1));
    std::uint32_t at = graph.terminals[transfer.src].in;
    for (const std::uint32_t link : transfer.path) {
        if (link >= graph.links.size() || graph.links[link].from != at)
            refuse(fmt::format("{}: its path does not hold together", name_of(transfer)));
        at = graph.links[link].to;
    }
    if (transfer.path.empty() || at != graph.terminals[transfer.dst].out)
        refuse(fmt::format("{}: its path does not lead to its destination", name_of(transfer)));
}

class Player {
  public:
    Player(const eco::LinkGraph& graph, const std::vector<eco::Round>& rounds, const PlayOptions& options)
      : flits_(options.flits)
      , lockstep_(!options.asynchronous)
      , owner_(graph.links.size(), kNobody)
      , waiting_(graph.links.size()) {
        if (flits_ == 0) refuse("a message has at least one flit");
        for (std::uint32_t round = 0; round < rounds.size(); ++round)
            for (std::uint32_t place = 0; place < rounds[round].size(); ++place) {
                check_path(graph, rounds[round][place]);
                worms_.push_back({&rounds[round][place], round, place});
            }
        if (!lockstep_) order_by_terminals();
    }

    Played run() {
        if (lockstep_) begin_round(0);
        for (std::uint32_t worm = 0; !lockstep_ && worm < worms_.size(); ++worm)
            if (worms_[worm].missing == 0) begin(worm, 0);
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            event.is_end ? end(event.worm, event.at) : reach(event.worm, event.at);
        }
        if (played_.transfers.size() < worms_.size()) played_.deadlock = explain();
        return std::move(played_);
    }

  private:
    struct Worm {
        const eco::Transfer* transfer;
        std::uint32_t round;
        std::uint32_t place;
        std::uint32_t missing = 0; ///< transfers that have to end before it begins
        std::vector<std::uint32_t> after = {};
        std::size_t links = 0; ///< that it has
        std::uint64_t begun = 0;
        std::uint64_t blocked = 0;
        std::uint64_t since = 0; ///< when it began to wait
        bool needs_what_never_comes = false;
    };
    struct Event {
        std::uint64_t at;
        bool is_end; ///< the last flit arrives; else the head reaches its next link
        std::uint32_t worm;
        bool operator<(const Event& other) const { // a heap's top is its largest; ends come first
            if (at != other.at) return at > other.at;
            return is_end != other.is_end ? other.is_end : worm > other.worm;
        }
    };

    void let_wait(std::uint32_t later, std::uint32_t earlier) {
        ++worms_[later].missing;
        worms_[earlier].after.push_back(later);
    }

    /// Of the next round that has any transfer.
    void begin_round(std::uint64_t now) {
        const std::uint32_t first = next_;
        for (; next_ < worms_.size() && worms_[next_].round == worms_[first].round; ++next_)
            begin(next_, now);
        left_ = next_ - first;
    }

    void order_by_terminals() {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> last;    // source, first link
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> bringer; // terminal, message
        for (std::uint32_t worm = 0; worm < worms_.size(); ++worm)
            bringer.emplace(std::pair{worms_[worm].transfer->dst, worms_[worm].transfer->msg}, worm);
        for (std::uint32_t worm = 0; worm < worms_.size(); ++worm) {
            const eco::Transfer& transfer = *worms_[worm].transfer;
            const auto [found, is_first] = last.emplace(std::pair{transfer.src, transfer.path.front()}, worm);
            if (!is_first) let_wait(worm, std::exchange(found->second, worm));
            if (transfer.msg == transfer.src) continue;
            const auto brought = bringer.find({transfer.src, transfer.msg});
            if (brought == bringer.end()) {
                worms_[worm].needs_what_never_comes = true;
                ++worms_[worm].missing;
            } else {
                let_wait(worm, brought->second);
            }
        }
    }

    void begin(std::uint32_t worm, std::uint64_t now) {
        worms_[worm].begun = now;
        events_.push({now, false, worm});
    }

    /// The head is where its next link begins.
    void reach(std::uint32_t worm, std::uint64_t now) {
        Worm& one = worms_[worm];
        const std::uint32_t link = one.transfer->path[one.links];
        if (owner_[link] == kNobody) return take(worm, now);
        one.since = now;
        waiting_[link].push_back(worm);
    }

    void take(std::uint32_t worm, std::uint64_t now) {
        Worm& one = worms_[worm];
        owner_[one.transfer->path[one.links++]] = worm;
        const bool is_last = one.links == one.transfer->path.size();
        events_.push({now + (is_last ? flits_ : 1), is_last, worm});
    }

    void end(std::uint32_t worm, std::uint64_t now) {
        const Worm& one = worms_[worm];
        for (const std::uint32_t link : one.transfer->path) {
            owner_[link] = kNobody;
            if (waiting_[link].empty()) continue;
            const std::uint32_t next = waiting_[link].front();
            waiting_[link].pop_front();
            worms_[next].blocked += now - worms_[next].since;
            take(next, now);
        }
        played_.cycles = now;
        played_.blocked += one.blocked;
        played_.transfers.push_back({one.round, one.place, one.begun, now, one.blocked});
        for (const std::uint32_t later : one.after)
            if (--worms_[later].missing == 0) begin(later, now);
        if (lockstep_ && --left_ == 0) begin_round(now);
    }

    /// Follows a transfer that waits to the one that has what it waits for, until one comes again.
    std::string explain() const {
        for (const auto& queue : waiting_)
            if (!queue.empty()) return circle_from(queue.front());
        for (const Worm& each : worms_)
            if (each.needs_what_never_comes)
                return fmt::format("{} waits for a message that its source never gets",
                                   name_of(*each.transfer));
        return "transfers wait for messages that wait for them";
    }

    std::string circle_from(std::uint32_t worm) const {
        const auto next_of = [&](std::uint32_t each) {
            return owner_[worms_[each].transfer->path[worms_[each].links]];
        };
        std::vector<char> seen(worms_.size());
        for (; seen[worm] == 0; worm = next_of(worm)) seen[worm] = 1;
        std::string text = name_of(*worms_[worm].transfer);
        for (std::uint32_t each = next_of(worm);; each = next_of(each)) {
            text += fmt::format(" waits for {}", name_of(*worms_[each].transfer));
            if (each == worm) return text;
        }
    }

    const std::uint64_t flits_;
    const bool lockstep_;                            ///< a round begins when the one before it has ended
    std::vector<Worm> worms_;                        ///< by rounds
    std::uint32_t next_ = 0;                         ///< in lockstep: the first of the next round
    std::uint32_t left_ = 0;                         ///< in lockstep: how many of the round have not ended
    std::vector<std::uint32_t> owner_;               ///< of each link
    std::vector<std::deque<std::uint32_t>> waiting_; ///< for each link, in order
    std::priority_queue<Event> events_;
    Played played_;
};

} // namespace

Played play(const eco::LinkGraph& graph, const std::vector<eco::Round>& rounds, const PlayOptions& options) {
    return Player(graph, rounds, options).run();
}

std::vector<eco::Round> pairwise_exchange(const eco::LinkGraph& graph) {
    const auto terminals = static_cast<std::uint32_t>(graph.terminals.size());
    const bool partners = (terminals & (terminals - 1)) == 0;
    std::vector<eco::Round> rounds;
    for (std::uint32_t distance = 1; distance < terminals; ++distance) {
        rounds.emplace_back();
        for (std::uint32_t src = 0; src < terminals; ++src) {
            const std::uint32_t dst = partners ? src ^ distance : (src + distance) % terminals;
            auto paths = eco::shortest_paths(graph, src, dst, 1);
            if (paths.empty()) refuse(fmt::format("no way leads from terminal {} to {}", src, dst));
            rounds.back().push_back({src, dst, src, std::move(paths.front())});
        }
    }
    return rounds;
}

} // namespace plexus::tools::schedule
