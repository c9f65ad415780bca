// SPDX-License-Identifier: BSD-3-Clause
#include "plan/exchange.h"

#include "plan/builder.h"
#include "topology/refuse.h"

#include <algorithm>
#include <iterator>

namespace plexus::eco {
namespace {

class Exchange {
  public:
    Exchange(const PlanRequest& request, const Partition& clusters, const ExchangeOptions& options)
      : out_(request, 1)
      , in_rounds_(options.in_rounds) {
        for (const Subnet& members : clusters) {
            Cluster& cluster = clusters_.emplace_back();
            cluster.members = members;
            std::sort(cluster.members.begin(), cluster.members.end());
            cluster.sources.resize(std::min(options.exchangers, members.size()));
            cluster.taken.resize(cluster.sources.size());
            for (std::size_t place = 0; place < members.size(); ++place)
                cluster.sources[place % cluster.sources.size()].push_back(cluster.members[place]);
            cluster.ranks = blocks_of(cluster.members);
        }
    }

    Plan write() {
        collect();
        for (std::size_t round = 1; round < clusters_.size(); ++round) {
            send(round);
            if (round == 1) exchange_inside(); // while the first messages are on their way
            if (in_rounds_) take(round);
        }
        for (std::size_t round = 1; round < clusters_.size() && !in_rounds_; ++round) take(round);
        if (clusters_.size() == 1) exchange_inside();
        hand_on();
        return out_.finish();
    }

  private:
    struct Cluster {
        Subnet members;              ///< rising; the first of them are the exchangers
        std::vector<Subnet> sources; ///< by exchanger: the members whose parts it sends
        std::vector<Subnet> taken;   ///< by exchanger: the members of other clusters whose parts came to it
        Blocks ranks;
    };
    struct Way { // of one message between clusters
        std::size_t from;
        std::size_t to;
        std::size_t sender; ///< an exchanger's place
        std::size_t receiver;
    };

    static Blocks blocks_of(const Subnet& members) {
        std::vector<std::uint32_t> out(members.begin(), members.end());
        return blocks_in(std::move(out));
    }
    static Rank member(const Cluster& cluster, std::size_t place) {
        return static_cast<Rank>(cluster.members[place]);
    }

    /// What the sources, which rise, have for the targets.
    Blocks pairs(const Subnet& sources, const Blocks& targets) const {
        Blocks out;
        for (const std::size_t source : sources)
            for (const BlockRange& each : targets)
                append(out, {static_cast<std::uint32_t>(source * out_.members() + each.first), each.count});
        return out;
    }

    void collect() {
        for (const Cluster& cluster : clusters_) {
            const Blocks outside = others(cluster.ranks, out_.members());
            for (std::size_t place = cluster.sources.size();
                 place < cluster.members.size() && !outside.empty(); ++place)
                out_.pass(member(cluster, place), member(cluster, place % cluster.sources.size()),
                          pairs({cluster.members[place]}, outside));
        }
    }

    /// Calls each(way) for the messages between clusters that are `round` apart.
    template <class Each>
    void for_ways(std::size_t round, Each&& each) {
        for (std::size_t from = 0; from < clusters_.size(); ++from) {
            const std::size_t to = (from + round) % clusters_.size();
            // Of a cluster with more exchangers than the sender, all have something to take.
            for (std::size_t sender = 0; sender < clusters_[from].sources.size(); ++sender)
                each(Way{from, to, sender, (sender + from) % clusters_[to].sources.size()});
        }
    }

    void send(std::size_t round) {
        for_ways(round, [&](const Way& way) {
            const Subnet& sources = clusters_[way.from].sources[way.sender];
            sent_.push_back(out_.post(member(clusters_[way.from], way.sender),
                                      member(clusters_[way.to], way.receiver),
                                      pairs(sources, clusters_[way.to].ranks)));
        });
    }

    void take(std::size_t round) {
        for_ways(round, [&](const Way& way) {
            out_.take(sent_[taken_++]);
            const Subnet& sources = clusters_[way.from].sources[way.sender];
            Subnet& taken = clusters_[way.to].taken[way.receiver];
            taken.insert(taken.end(), sources.begin(), sources.end());
        });
    }

    void exchange_inside() {
        for (const Cluster& cluster : clusters_) {
            const std::size_t size = cluster.members.size();
            for (std::size_t distance = 1; distance < size; ++distance) {
                std::vector<std::uint32_t> posted;
                for (std::size_t place = 0; place < size; ++place) {
                    const std::size_t to = (place + distance) % size;
                    posted.push_back(out_.post(member(cluster, place), member(cluster, to),
                                               pairs({cluster.members[place]}, {{member(cluster, to), 1}})));
                }
                for (const std::uint32_t message : posted) out_.take(message);
            }
        }
    }

    void hand_on() {
        for (Cluster& cluster : clusters_)
            for (std::size_t exchanger = 0; exchanger < cluster.taken.size(); ++exchanger) {
                Subnet& taken = cluster.taken[exchanger];
                std::sort(taken.begin(), taken.end());
                for (std::size_t place = 0; place < cluster.members.size() && !taken.empty(); ++place)
                    if (place != exchanger)
                        handed_.push_back(out_.post(member(cluster, exchanger), member(cluster, place),
                                                    pairs(taken, {{member(cluster, place), 1}})));
            }
        for (const std::uint32_t message : handed_) out_.take(message);
    }

    Builder out_;
    const bool in_rounds_;
    std::vector<Cluster> clusters_;
    std::vector<std::uint32_t> sent_; ///< between clusters
    std::size_t taken_ = 0;           ///< of these
    std::vector<std::uint32_t> handed_;
};

} // namespace

std::vector<std::size_t> exchanger_counts(const Partition& clusters, std::size_t first, std::size_t step,
                                          std::size_t most) {
    std::size_t widest = 1;
    for (const Subnet& each : clusters) widest = std::max(widest, each.size());
    const std::size_t last = std::min(widest, most);
    std::vector<std::size_t> out;
    for (std::size_t count = first; count < last; count *= step) out.push_back(count);
    out.push_back(last);
    return out;
}

Plan plan_exchange(const PlanRequest& request, const Partition& clusters, const ExchangeOptions& options) {
    if (request.operation != Operation::all_to_all)
        refuse(Status::unsupported, "clusters exchange in an all_to_all alone, not in a {}",
               to_string(request.operation));
    if (options.exchangers == 0)
        refuse(Status::bad_argument, "a cluster that exchanges has one exchanger at least");
    return Exchange(request, clusters, options).write();
}

} // namespace plexus::eco
