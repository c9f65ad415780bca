// SPDX-License-Identifier: BSD-3-Clause
#include "group/adaptation.h"

#include "group/algorithm_text.h"
#include "topology/refuse.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
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
/// Edges whose cost has changed are measured again in every so many checks.
constexpr std::uint64_t kChecksUntilLookingBack = 16;
constexpr std::size_t kMostLookedBackAt = 16;
/// Edges that have drifted are measured a second time, each alone: at most so many in one check.
constexpr std::size_t kMostLookedAgainAt = 16;
/// An edge is measured if that is expected to take at most this part of the deadline, and in one check so
/// many that all of it is expected to take at most one deadline.
constexpr double kProbePart = 0.25;
/// What calls are expected to take falls after so many checks in which they took less.
constexpr int kChecksUntilLess = 2;

double us_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double lower_median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Infinite: there is no deadline.
double us_until(Clock::time_point end) {
    return end == Clock::time_point::max()
               ? std::numeric_limits<double>::infinity()
               : std::chrono::duration<double, std::micro>(end - Clock::now()).count();
}

std::uint64_t large_bytes_of(const Map& map) {
    return std::clamp(map.sizes_bytes().back(), kLeastProbeBytes, kMostProbeBytes);
}

/// A member that fails between two collectives breaks the group: the others would wait for it in the next
/// one. Does nothing if the group is broken already.
template <class Body>
void or_break_up(GroupState& group, Body body) {
    const auto why = [&](const char* what) {
        return fmt::format("member {} failed in the group's adaptation: {}", group.me(), what);
    };
    try {
        body();
    } catch (const Error& error) {
        group.break_up(error.status(), why(error.what()), true);
        throw;
    } catch (const std::bad_alloc& error) {
        group.break_up(Status::too_large, why(error.what()), true);
        throw;
    } catch (const std::exception& error) {
        group.break_up(Status::runtime_lost, why(error.what()), true);
        throw;
    }
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
    /// Member 0's words; on other members, `count` of them are there afterwards.
    void from_first(std::vector<std::uint64_t>& words, std::uint64_t count) const {
        words.resize(count);
        broadcast(std::span(words));
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
    for (const Member& each : group_->members().all()) {
        names.push_back(each.facts.host);
        places_.push_back(first_map_->index_of(each.facts.host));
    }
    place_ = history_place(*first_map_, names);
    or_break_up(*group_, [&] { agree_on_choices(); });
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

void Adaptation::agree_on_choices() {
    if (group_->me() == 0 && options_.history != nullptr) chosen_ = choose(*options_.history);
    const Direct direct(*group_, no_deadline);
    std::vector<std::uint64_t> words = to_words(chosen_);
    std::uint64_t count = words.size();
    direct.broadcast(std::span(&count, 1));
    check_choice_words(count);
    if (count > 0) {
        direct.from_first(words, count);
        chosen_ = choices_in(words, group_->size());
    }
    const Lock hold(mutex_);
    report_.chosen = chosen_.size();
}

/// On member 0: the fastest algorithm of each kind of calls for which it is not the automatic one.
std::vector<Choice> Adaptation::choose(const History& history) {
    std::vector<Choice> out;
    bool knows_place = false;
    for (const PastCalls& each : history.calls()) {
        knows_place = knows_place || each.place == place_;
        if (each.place != place_ || each.algorithm != "auto" || out.size() == kMostChoices) continue;
        const PastCalls* const best = history.fastest(place_, each.operation, each.root, each.bytes);
        const std::optional<Algorithm> algorithm = parse_algorithm(best->algorithm);
        if (algorithm && can_choose(*algorithm, each.operation))
            out.push_back({each.operation, each.root, each.bytes, *algorithm});
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
const Choice* Adaptation::choice_for(const PlannedCall& planned, const CollectiveArgs& args,
                                     const Algorithm& algorithm) const {
    const Signature& call = planned.signature;
    if (chosen_.empty() || !is_free(algorithm) || call.varied || !call.by_messages() ||
        !args.combine.commutative)
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
        used = choice->algorithm;
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
        return;
    }
    if (timed_.size() == kMostTimed) {
        const auto unused = std::find_if(timed_.begin(), timed_.end(),
                                         [](const TimedCalls& each) { return each.us.empty(); });
        if (unused == timed_.end()) return;
        timed_.erase(unused);
    }
    timed_.push_back({request, algorithm, call.algorithm, {us}, {}});
}

void Adaptation::check(Deadline deadline) {
    const Clock::time_point begin = Clock::now();
    std::vector<double> mine;
    for (const TimedCalls& each : timed_) mine.push_back(lower_median(each.us));
    std::vector<double> slowest(mine.size());
    Direct(*group_, deadline).reduce(std::span(std::as_const(mine)), std::span(slowest), Max{});
    or_break_up(*group_, [&] {
        Judgement judgement{begin, us_since(begin), us_until(group_->ends_at(deadline))};
        if (group_->me() == 0) judge(slowest, judgement);
        carry_out(judgement, deadline);
    });
    for (TimedCalls& each : timed_) each.us.clear();
    const Lock hold(mutex_);
    ++report_.checks;
}

/// As member 0 decides, step by step. A step begins on all members when the one before is over on all: each
/// reduces to member 0, which sends the next decision after that.
void Adaptation::carry_out(Judgement& judgement, Deadline deadline) {
    const Direct all(*group_, deadline);
    const bool judges = group_->me() == 0;
    for (;;) {
        ProbeRound round;
        std::vector<CostChange> changes;
        Decision decision;
        if (judges) decision = decide(judgement, round, changes);
        all.broadcast(std::span(&decision, 1));
        detail::check(decision, options_, group_->size(), *first_map_);
        if (decision.edges == 0) {
            if (decision.changes > 0) {
                std::vector<std::uint64_t> words = to_words(changes);
                all.from_first(words, decision.changes * kChangeWords);
                apply(changes_in(words, *first_map_), static_cast<std::uint32_t>(decision.epoch));
            }
            calls_until_check_ = static_cast<std::uint32_t>(decision.calls_until_check);
            return;
        }
        std::vector<std::uint64_t> words = to_words(round);
        all.from_first(words, decision.edges * kEdgeWords);
        round = edges_in(words, group_->size());
        const std::vector<double> own = probe(round, deadline);
        std::vector<double> us(own.size());
        all.reduce(std::span(own), std::span(us), Max{});
        {
            const Lock hold(mutex_);
            report_.probed += decision.edges;
        }
        if (judges) take_measured(round, us, judgement);
    }
}

/// Which edges are to be measured: all of the plans whose calls take too long.
void Adaptation::judge(const std::vector<double>& slowest_us, Judgement& out) {
    std::vector<MemberPair> edges;
    double total_us = 0;
    std::size_t count = 0;
    for (std::size_t each = 0; each < timed_.size(); ++each) {
        TimedCalls& calls = timed_[each];
        if (calls.us.empty()) continue;
        const double us = slowest_us[each];
        total_us += us * static_cast<double>(calls.us.size());
        count += calls.us.size();
        std::optional<Plan> plan;
        const auto make_plan = [&] { plan = group_->planner().plan_of(calls.request, calls.algorithm); };
        const bool is_first = !calls.expected;
        if (is_first) {
            make_plan();
            // Most calls follow another one. A call after a pause takes longer over a long way, so calls that
            // alternate between bursts and pauses may have edges measured that have not changed.
            const double predicted = estimate_us(*plan, *network_, Connections::open);
            calls.expected = {predicted, predicted, 0};
        }
        Expected& expected = *calls.expected;
        remember(calls, expected.predicted_us, us);
        const Drift drift = drift_of(expected.us, us, options_);
        expected.checks_with_less = drift == Drift::faster ? expected.checks_with_less + 1 : 0;
        if (is_first || drift == Drift::slower || expected.checks_with_less == kChecksUntilLess) {
            expected.us = us;
            expected.checks_with_less = 0;
        }
        if (drift != Drift::slower) continue;
        if (!plan) make_plan();
        add_edges(edges, edges_of(*plan, *network_), *network_);
        out.slower = std::max(out.slower, us / std::max(expected.predicted_us, 1e-9));
    }
    out.call_us = count == 0 ? 0 : total_us / static_cast<double>(count);
    const std::shared_ptr<const Map> now = map();
    const bool looks_back = [&] {
        const Lock hold(mutex_);
        return report_.checks % kChecksUntilLookingBack == kChecksUntilLookingBack - 1;
    }();
    if (!edges.empty() || looks_back)
        add_edges(edges, changed_edges(*first_map_, *now, places_, options_, kMostLookedBackAt), *network_);
    plan_rounds(edges, out);
}

/// Of all exchanges of a probe. Calls that take so many times what the map says may have met an edge that
/// does.
double Adaptation::expected_us(const MemberPair& edge, const Judgement& of) const {
    const double small = network_->latency_us(edge.from, edge.to);
    const double large =
        small + network_->us_per_byte(edge.from, edge.to) * static_cast<double>(large_bytes_of(*first_map_));
    return 2 * of.slower * (kSmallExchanges * small + kLargeExchanges * large);
}

/// Leaves out what is expected to take too long.
void Adaptation::plan_rounds(const std::vector<MemberPair>& edges, Judgement& out) const {
    std::vector<MemberPair> quick;
    for (const MemberPair& edge : edges)
        if (expected_us(edge, out) <= kProbePart * out.deadline_us) quick.push_back(edge);
    plan_rounds(rounds_of(quick, *network_, closest_members_), out);
}

void Adaptation::plan_rounds(const std::vector<ProbeRound>& rounds, Judgement& out) const {
    for (const ProbeRound& round : rounds) {
        double longest_us = 0;
        for (const MemberPair& edge : round) longest_us = std::max(longest_us, expected_us(edge, out));
        if (out.probes_us + longest_us > out.deadline_us) break;
        out.probes_us += longest_us;
        out.rounds.push_back(round);
    }
}

/// What has drifted is measured again, with no other edge beside it: hosts that share processors with others,
/// or that paused for a moment, answer late for once, and a map that believes them has other groups of hosts.
void Adaptation::look_again(Judgement& out) const {
    std::vector<ProbeRound> rounds;
    for (std::size_t each = 0; each < out.known.size() && rounds.size() < kMostLookedAgainAt; ++each)
        if (out.measured[each].drifted()) rounds.push_back({out.known[each]});
    plan_rounds(rounds, out);
}

/// On member 0. The first edges show where to measure others; these are the last.
Decision Adaptation::decide(Judgement& judgement, ProbeRound& round, std::vector<CostChange>& changes) {
    if (judgement.rounds.empty() && !judgement.looked_beside) {
        judgement.looked_beside = true;
        std::vector<MemberPair> drifted;
        for (std::size_t each = 0; each < judgement.known.size(); ++each)
            if (judgement.measured[each].drifted()) drifted.push_back(judgement.known[each]);
        plan_rounds(edges_beside(drifted, judgement.known, *network_, closest_members_), judgement);
    }
    if (judgement.rounds.empty() && !judgement.looked_again) {
        judgement.looked_again = true;
        look_again(judgement);
    }
    Decision out;
    if (!judgement.rounds.empty()) {
        round = std::move(judgement.rounds.front());
        judgement.rounds.pop_front();
        out.edges = round.size();
        return out;
    }
    const std::shared_ptr<const Map> now = map();
    changes = refine(*now, judgement.measured, large_bytes_of(*now), closest_hosts_);
    out.changes = changes.size();
    {
        const Lock hold(mutex_);
        out.epoch = report_.epoch + (changes.empty() ? 0 : 1);
    }
    // The decision goes back as long as the times came.
    const double check_us = us_since(judgement.begin) + judgement.reduce_us;
    out.calls_until_check = calls_until_check(check_us, judgement.call_us, options_);
    return out;
}

/// Of an edge that was measured before, the lesser time of each size counts.
void Adaptation::take_measured(const ProbeRound& round, const std::vector<double>& us, Judgement& out) const {
    for (std::size_t each = 0; each < round.size(); ++each) {
        const auto found = std::find(out.known.begin(), out.known.end(), round[each]);
        const auto place = static_cast<std::size_t>(found - out.known.begin());
        double small_us = us[2 * each];
        double large_us = us[2 * each + 1];
        if (found == out.known.end()) {
            out.known.push_back(round[each]);
            out.measured.emplace_back();
        } else {
            small_us = std::min(small_us, out.measured[place].small_us);
            large_us = std::min(large_us, out.measured[place].large_us);
        }
        out.measured[place] = compared(round[each], small_us, large_us, large_bytes_of(*first_map_),
                                       *network_, places_, options_);
    }
}

/// Of each edge two times, of a small and a large message one way: on the edge's first member. Else 0.
std::vector<double> Adaptation::probe(const ProbeRound& round, Deadline deadline) {
    const Rank me = group_->me();
    std::vector<double> us(2 * round.size());
    std::optional<MemberPair> mine;
    std::size_t place = 0;
    for (std::size_t each = 0; each < round.size(); ++each)
        if (round[each].from == me || round[each].to == me) {
            mine = round[each];
            place = each;
        }
    std::uint64_t number = 0;
    for (const auto& [bytes, times, which] : {std::tuple{std::uint64_t{1}, kSmallExchanges, 0u},
                                              std::tuple{large_bytes_of(*first_map_), kLargeExchanges, 1u}})
        for (int exchange = 0; exchange < times; ++exchange) {
            const double both_us = exchange_us(mine, bytes, ++number, deadline);
            if (exchange == 0 || !mine || mine->from != me) continue;
            double& least = us[2 * place + which];
            least = exchange == 1 ? both_us / 2 : std::min(least, both_us / 2);
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
    group_->learn_map(refined, epoch);
    timed_.clear();
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
