// SPDX-License-Identifier: BSD-3-Clause
#include "group/adaptation.h"

#include "topology/refuse.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace plexus::eco::detail {
namespace {

/// Different calls that are timed between two checks.
constexpr std::size_t kMostTimed = 32;
/// A probe's large message, at most: what a connection sends at once after a pause.
constexpr std::uint64_t kMostProbeBytes = 10 * 1448;
constexpr std::uint64_t kLeastProbeBytes = 1024;
/// Exchanges of each size. The first one waits for the other member.
constexpr int kSmallExchanges = 4;
constexpr int kLargeExchanges = 3;
/// Edges that had drifted are measured again in every so many checks.
constexpr std::uint64_t kChecksUntilLookingBack = 16;
constexpr std::size_t kMostLookedBackAt = 16;

double us_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double lower_median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::uint64_t number_of(const AdaptOptions& options) {
    using plexus::detail::mix;
    std::uint64_t number = mix(0xcbf29ce484222325ull, options.every);
    for (const double each : {options.share, options.drift, options.least_us})
        number = mix(number, std::bit_cast<std::uint64_t>(each));
    return number;
}

double mean_of(const std::vector<double>& values) {
    return values.empty()
               ? 0
               : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// As parse_algorithm() reads it. Nothing: there are no words for it.
std::optional<std::string> text_of(const Algorithm& algorithm) {
    if (algorithm.schedule() != nullptr || algorithm.uses_memory()) return std::nullopt;
    if (!algorithm.options()) return "auto"; // by messages all of these follow the map
    const AlgorithmOptions& options = *algorithm.options();
    if (options.halve_from_bytes != AlgorithmOptions().halve_from_bytes) return std::nullopt;
    const std::string name(to_string(options.pattern));
    if (options.pattern == Pattern::tree) return fmt::format("{}:{}", name, options.arity);
    if (options.segment_bytes == 0) return name;
    if (options.pattern != Pattern::chain) return std::nullopt;
    return fmt::format("{}:{}B", name, options.segment_bytes);
}

std::uint64_t bytes_of(const PlanRequest& request) { return request.elements * request.element_bytes; }

bool same(const PlanRequest& one, const PlanRequest& other) {
    return one.operation == other.operation && one.root == other.root && one.elements == other.elements &&
           one.element_bytes == other.element_bytes && one.commutative == other.commutative;
}

void refuse_nonsense(const AdaptOptions& options) {
    if (options.every == 0) refuse(Status::bad_argument, "AdaptOptions::every is 0");
    if (!(options.drift > 1) || std::isinf(options.drift))
        refuse(Status::bad_argument, "AdaptOptions::drift is {} and has to be above 1", options.drift);
    if (!(options.share > 0)) refuse(Status::bad_argument, "AdaptOptions::share is {}", options.share);
    if (!(options.least_us >= 0))
        refuse(Status::bad_argument, "AdaptOptions::least_us is {}", options.least_us);
}

} // namespace

/// The group's operations without timing.
class Adaptation::Direct : public Collectives<Direct> {
  public:
    Direct(GroupState& group, Deadline deadline)
      : group_(group)
      , deadline_(deadline) {}
    void begin(const CollectiveArgs& args) const {
        group_.run(group_.prepare(args, Algorithm(), true), args, group_.ends_at(deadline_));
    }
    template <class T>
    void from_first(std::vector<T>& items, std::uint64_t count) const {
        items.resize(count);
        broadcast(std::span(items));
    }

  private:
    GroupState& group_;
    const Deadline deadline_;
};

Adaptation::Adaptation(std::shared_ptr<GroupState> group, const AdaptOptions& options)
  : group_(std::move(group))
  , options_(options)
  , first_map_(group_->options().map)
  , calls_until_check_(options.every)
  , map_(first_map_) {
    const std::uint64_t mine = number_of(options);
    std::vector<std::uint64_t> all(group_->size());
    Direct(*group_, no_deadline).all_gather(std::span(&mine, 1), std::span(all));
    for (Rank member = 0; member < group_->size(); ++member)
        if (all[member] != all[0])
            refuse(Status::bad_argument, "adapt: member {} has other AdaptOptions than member 0", member);
    refuse_nonsense(options);
    std::vector<std::string> names;
    for (const Member& each : group_->members()) {
        names.push_back(each.host);
        places_.push_back(first_map_->index_of(each.host));
    }
    place_ = history_place(*first_map_, names);
    if (group_->me() == 0 && options.history != nullptr) chosen_ = choose(*options.history);
    const Direct direct(*group_, no_deadline);
    std::uint64_t chosen = chosen_.size();
    direct.broadcast(std::span(&chosen, 1));
    if (chosen > 0) direct.from_first(chosen_, chosen);
    report_.chosen = chosen;
    const Tolerance tolerance = group_->options().tolerance;
    network_.emplace(*first_map_, places_, tolerance);
    closest_hosts_ = partition(first_map_->matrix(0, Statistic::min, Symmetry::mean), tolerance);
    for (const Subnet& hosts : closest_hosts_) {
        closest_members_.emplace_back();
        for (Rank member = 0; member < group_->size(); ++member)
            if (std::binary_search(hosts.begin(), hosts.end(), places_[member]))
                closest_members_.back().push_back(member);
    }
}

/// On member 0: the fastest algorithm of each kind of calls for which it is not the automatic one.
std::vector<Adaptation::Choice> Adaptation::choose(const History& history) {
    std::vector<Choice> out;
    bool knows_place = false;
    for (const PastCalls& each : history.calls()) {
        knows_place = knows_place || each.place == place_;
        if (each.place != place_ || each.algorithm != "auto") continue;
        const PastCalls* const best = history.fastest(place_, each.operation, each.root, each.bytes);
        const std::optional<Algorithm> algorithm = parse_algorithm(best->algorithm);
        if (!algorithm || !algorithm->options() || !supports(algorithm->options()->pattern, each.operation))
            continue;
        out.push_back({each.operation, each.root, each.bytes, *algorithm->options()});
    }
    if (!knows_place && !history.calls().empty()) {
        const Lock hold(mutex_);
        report_.ignored =
            fmt::format("the history is ignored: it knows {} kinds of calls, and none of them on this "
                        "map by members on these hosts",
                        history.calls().size());
    }
    return out;
}

/// Null: the call goes by the algorithm that its caller has given.
const Adaptation::Choice* Adaptation::choice_for(const PlannedCall& planned, const CollectiveArgs& args,
                                                 const Algorithm& algorithm) const {
    const Signature& call = planned.signature;
    const bool is_automatic = !algorithm.options() && !algorithm.follows_map() && !algorithm.uses_memory() &&
                              algorithm.schedule() == nullptr;
    if (chosen_.empty() || !is_automatic || call.varied || !call.by_messages() || !args.combine.commutative)
        return nullptr;
    const std::uint64_t bytes = bytes_of(
        class_of({call.operation, group_->size(), call.root, call.elements, call.element_bytes, true}));
    const auto found = std::find_if(chosen_.begin(), chosen_.end(), [&](const Choice& each) {
        return each.operation == call.operation && each.root == call.root && each.bytes == bytes;
    });
    return found == chosen_.end() ? nullptr : &*found;
}

void Adaptation::remember(const TimedCalls& calls, double predicted_us, double measured_us) {
    const std::optional<std::string> name = text_of(calls.algorithm);
    if (!name) return;
    const Lock hold(mutex_);
    if (report_.epoch > 0) return;
    report_.measured.add({place_, calls.request.operation, calls.request.root, bytes_of(calls.request), *name,
                          predicted_us, measured_us, calls.us.size()});
}

void Adaptation::run(const CollectiveArgs& args, const Algorithm& algorithm, Deadline deadline) {
    std::shared_ptr<const PlannedCall> planned = group_->prepare(args, algorithm, true);
    if (calls_until_check_ == 0) {
        check(deadline);
        planned = group_->prepare(args, algorithm, true);
    }
    Algorithm used = algorithm;
    if (const Choice* const choice = choice_for(*planned, args, algorithm)) {
        used = choice->options;
        planned = group_->prepare(args, used, true);
    }
    const Clock::time_point begin = Clock::now();
    group_->run(planned, args, group_->ends_at(deadline));
    --calls_until_check_; // not of a call that was refused: the others know nothing of it
    note(*planned, args, used, us_since(begin));
}

void Adaptation::note(const PlannedCall& planned, const CollectiveArgs& args, const Algorithm& algorithm,
                      double us) {
    {
        const Lock hold(mutex_);
        ++report_.calls;
    }
    const Signature& call = planned.signature;
    if (call.varied || !call.by_messages()) return;
    const PlanRequest request = class_of({call.operation, group_->size(), call.root, call.elements,
                                          call.element_bytes, args.combine.commutative});
    const auto found = std::find_if(timed_.begin(), timed_.end(), [&](const TimedCalls& each) {
        return same(each.request, request) && each.number == call.algorithm;
    });
    if (found != timed_.end()) {
        found->us.push_back(us);
    } else if (timed_.size() < kMostTimed) {
        timed_.push_back({request, algorithm, call.algorithm, {us}, {}});
    }
}

void Adaptation::check(Deadline deadline) {
    const Direct all(*group_, deadline);
    const bool judges = group_->me() == 0;
    const Clock::time_point begin = Clock::now();
    std::vector<double> mine;
    for (const TimedCalls& each : timed_) mine.push_back(lower_median(each.us));
    std::vector<double> slowest(mine.size());
    all.reduce(std::span(std::as_const(mine)), std::span(slowest), Max{});
    const double check_us = 2 * us_since(begin); // and as long to send the decision
    Judgement judgement;
    if (judges) judge(slowest, judgement);
    Decision decision;
    for (;;) {
        if (judges) {
            decision.edges = judgement.edges.size();
            decision.large_bytes = judgement.large_bytes;
        }
        std::vector<CostChange> changes;
        if (judges && decision.edges == 0) {
            const Lock hold(mutex_);
            changes = refine(*map_, judgement.measured, judgement.large_bytes, closest_hosts_);
            decision.changes = changes.size();
            decision.epoch = report_.epoch + (changes.empty() ? 0 : 1);
            decision.calls_until_check =
                changes.empty() ? calls_until_check(check_us, mean_of(slowest), options_) : options_.every;
        }
        all.broadcast(std::span(&decision, 1));
        if (decision.edges == 0) {
            if (decision.changes > 0) {
                all.from_first(changes, decision.changes);
                apply(changes, decision.epoch);
            }
            break;
        }
        all.from_first(judgement.edges, decision.edges);
        const std::vector<double> own = probe(judgement.edges, decision.large_bytes, deadline);
        std::vector<double> us(own.size());
        all.reduce(std::span(own), std::span(us), Max{});
        {
            const Lock hold(mutex_);
            report_.probed += decision.edges;
        }
        if (judges) take_measured(us, judgement);
    }
    calls_until_check_ = decision.calls_until_check;
    std::erase_if(timed_, [](const TimedCalls& each) { return each.us.empty(); });
    for (TimedCalls& each : timed_) each.us.clear();
    const Lock hold(mutex_);
    ++report_.checks;
}

/// Which edges are to be measured: all of the plans whose calls take too long.
void Adaptation::judge(const std::vector<double>& slowest_us, Judgement& out) {
    std::uint64_t most = 0;
    for (std::size_t each = 0; each < timed_.size(); ++each) {
        TimedCalls& calls = timed_[each];
        if (calls.us.empty()) continue;
        const Plan plan = group_->planner().plan_of(calls.request, calls.algorithm);
        const double predicted = estimate_us(plan, *network_);
        remember(calls, predicted, slowest_us[each]);
        const double expected = calls.expected_us ? *calls.expected_us : predicted;
        const Drift drift = drift_of(expected, slowest_us[each], options_);
        if (drift != Drift::none || !calls.expected_us) calls.expected_us = slowest_us[each];
        if (drift != Drift::slower) continue;
        for (const MemberPair& edge : edges_of(plan, *network_))
            if (std::find(out.edges.begin(), out.edges.end(), edge) == out.edges.end())
                out.edges.push_back(edge);
        for (const Message& message : plan.messages) most = std::max(most, plan.bytes_of(message));
    }
    std::uint64_t checks = 0;
    {
        const Lock hold(mutex_);
        checks = report_.checks;
    }
    if (!out.edges.empty() || checks % kChecksUntilLookingBack == kChecksUntilLookingBack - 1)
        for (const MemberPair& edge : refined_)
            if (std::find(out.edges.begin(), out.edges.end(), edge) == out.edges.end())
                out.edges.push_back(edge);
    if (most == 0) most = kMostProbeBytes;
    out.large_bytes = std::clamp(most, kLeastProbeBytes, kMostProbeBytes);
}

/// The first edges show where to measure others; these are the last.
void Adaptation::take_measured(const std::vector<double>& us, Judgement& out) {
    const bool are_first = out.known.empty();
    std::vector<MemberPair> drifted;
    for (std::size_t each = 0; each < out.edges.size(); ++each) {
        const MemberPair edge = out.edges[each];
        const MeasuredEdge measured =
            compared(edge, us[2 * each], us[2 * each + 1], out.large_bytes, *network_, places_, options_);
        out.measured.push_back(measured);
        out.known.push_back(edge);
        if (!measured.drifted()) continue;
        drifted.push_back(edge);
        if (std::find(refined_.begin(), refined_.end(), edge) == refined_.end() &&
            refined_.size() < kMostLookedBackAt)
            refined_.push_back(edge);
    }
    out.edges =
        are_first ? edges_beside(drifted, out.known, *network_, closest_members_) : std::vector<MemberPair>();
}

/// Of each edge two times, of a small and a large message one way: on the edge's first member. Else 0.
std::vector<double> Adaptation::probe(const std::vector<MemberPair>& edges, std::uint64_t large_bytes,
                                      Deadline deadline) {
    const Rank me = group_->me();
    std::vector<double> us(2 * edges.size());
    std::uint64_t number = 0;
    for (const ProbeRound& round : rounds_of(edges, *network_, closest_members_)) {
        std::optional<MemberPair> mine;
        for (const MemberPair& each : round)
            if (each.from == me || each.to == me) mine = each;
        std::size_t place = 0;
        if (mine)
            place = static_cast<std::size_t>(std::find(edges.begin(), edges.end(), *mine) - edges.begin());
        for (const auto& [bytes, times, which] : {std::tuple{std::uint64_t{1}, kSmallExchanges, 0u},
                                                  std::tuple{large_bytes, kLargeExchanges, 1u}})
            for (int exchange = 0; exchange < times; ++exchange) {
                const double both_us = exchange_us(mine, bytes, ++number, deadline);
                if (exchange == 0 || !mine || mine->from != me) continue;
                double& least = us[2 * place + which];
                least = exchange == 1 ? both_us / 2 : std::min(least, both_us / 2);
            }
    }
    return us;
}

/// A message each way between the two members, the first of whom begins; others do nothing in this call.
double Adaptation::exchange_us(std::optional<MemberPair> mine, std::uint64_t bytes, std::uint64_t number,
                               Deadline deadline) {
    auto planned = std::make_shared<PlannedCall>();
    planned->signature.probes = true;
    planned->signature.algorithm = number;
    planned->signature.elements = bytes;
    planned->digest = planned->signature.digest();
    planned->piece_bytes = group_->planner().piece_bytes();
    Schedule& schedule = planned->schedule;
    std::vector<std::byte> out;
    std::vector<std::byte> in;
    if (mine) {
        out.resize(bytes);
        in.resize(bytes);
        const bool begins = mine->from == group_->me();
        const Rank peer = begins ? mine->to : mine->from;
        schedule.segments = {{Space::send, 0, bytes}, {Space::receive, 0, bytes}};
        const ScheduleOp sends{peer, 0, true, Merge::store, 0, 1, bytes};
        const ScheduleOp takes{peer, 0, false, Merge::store, 1, 1, bytes};
        schedule.ops = begins ? std::vector{sends, takes} : std::vector{takes, sends};
        schedule.op_of_slot = {begins ? 1u : 0u};
    }
    CollectiveArgs args;
    args.send = out.data();
    args.receive = in.data();
    const Clock::time_point begin = Clock::now();
    group_->run(std::move(planned), args, group_->ends_at(deadline));
    return us_since(begin);
}

void Adaptation::apply(const std::vector<CostChange>& changes, std::uint32_t epoch) {
    auto refined = std::make_shared<const Map>(with_changes(*map(), changes));
    network_.emplace(*refined, places_, group_->options().tolerance);
    group_->learn_map(*refined, epoch);
    for (TimedCalls& each : timed_) each.expected_us.reset();
    chosen_.clear(); // it was measured on the map before
    const Lock hold(mutex_);
    report_.chosen = 0;
    map_ = std::move(refined);
    report_.epoch = epoch;
}

std::shared_ptr<const Map> Adaptation::map() const {
    const Lock hold(mutex_);
    return map_;
}

AdaptReport Adaptation::report() const {
    AdaptReport out;
    std::shared_ptr<const Map> now;
    {
        const Lock hold(mutex_);
        out = report_;
        now = map_;
    }
    out.map = now;
    out.drifted = drifted_edges(*first_map_, *now, options_);
    out.slow_hosts = slow_hosts(*first_map_, *now, options_);
    return out;
}

} // namespace plexus::eco::detail
