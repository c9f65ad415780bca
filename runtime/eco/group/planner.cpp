// SPDX-License-Identifier: BSD-3-Clause
#include "group/planner.h"

#include "group/hierarchy.h"
#include "host/collective.h"
#include "plan/builder.h"
#include "plan/tree.h"
#include "plexus/eco/poly_model.h"
#include "topology/refuse.h"

#include <algorithm>
#include <bit>

namespace plexus::eco::detail {
namespace {

constexpr std::size_t kMostSchedules = 256;

std::uint64_t mix_options(std::uint64_t hash, const AlgorithmOptions& options) {
    using plexus::detail::mix;
    hash = mix(hash, static_cast<std::uint64_t>(options.pattern));
    return mix(mix(mix(hash, options.arity), options.segment_bytes), options.halve_from_bytes);
}

std::uint64_t number_of(const Algorithm& algorithm) {
    using Kind = Algorithm::Kind;
    constexpr std::uint64_t kSeed = 0xcbf29ce484222325ull;
    switch (algorithm.kind()) {
    case Kind::automatic:
        return 0;
    case Kind::eco:
        return 1;
    case Kind::memory:
        return 4;
    case Kind::messages:
        return 6;
    case Kind::multicast:
        return 8;
    case Kind::models:
        return 12;
    case Kind::schedule:
        return algorithm.schedule_number();
    case Kind::pattern:
        return mix_options(kSeed, *algorithm.options()) | 2;
    case Kind::levels:
    case Kind::rule:
        break;
    }
    std::uint64_t hash = kSeed;
    for (const AlgorithmOptions& each : *algorithm.levels()) hash = mix_options(hash, each);
    const std::uint64_t rule = algorithm.rule() ? 1 + static_cast<std::uint64_t>(*algorithm.rule()) : 0;
    return plexus::detail::mix(plexus::detail::mix(hash, algorithm.levels()->size()), rule) | 2;
}

/// Its plan has times, which are right for one size.
bool is_paced(const Algorithm& algorithm) {
    return algorithm.schedule() != nullptr && algorithm.schedule()->pace.has_value();
}

bool has_root(Operation operation) {
    return operation == Operation::broadcast || operation == Operation::scatter ||
           operation == Operation::gather || operation == Operation::reduce;
}

/// Sizes of one class share a plan, that of the least of them: there are eight from one power of
/// two to the next.
std::uint64_t least_of_class(const PlanRequest& request) {
    if (request.elements == 0) return 0;
    const std::uint64_t bytes = request.elements * request.element_bytes;
    const std::uint64_t least = bytes & ~(std::bit_floor(bytes) / 8 - (bytes >= 8 ? 1 : 0));
    return std::max<std::uint64_t>(1, least / request.element_bytes);
}

/// Every member of such a v form has the lengths of all parts; of others, each has those of its own messages.
bool knows_all(Operation operation, Lengths lengths) {
    return operation == Operation::all_gather || operation == Operation::reduce_scatter ||
           lengths == Lengths::told;
}

/// Of lengths that all members know: what they compare. Of others: nothing.
void describe_layout(Signature& signature, const CollectiveArgs& args, Lengths lengths) {
    signature.elements = 0;
    if (!knows_all(args.operation, lengths)) return;
    const bool collects = args.operation == Operation::all_gather || args.operation == Operation::gather;
    const Layout& layout = collects ? args.receive_layout : args.send_layout;
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const std::uint64_t count : layout.counts) {
        hash = plexus::detail::mix(hash, count);
        signature.elements += count;
    }
    signature.parts = hash | 1;
}

/// Nothing in `algorithm` asks for another pattern than `only`.
bool goes_directly(const Algorithm& algorithm, Pattern only) {
    switch (algorithm.kind()) {
    case Algorithm::Kind::pattern:
        return algorithm.options()->pattern == only;
    case Algorithm::Kind::eco:
    case Algorithm::Kind::models:
    case Algorithm::Kind::levels:
    case Algorithm::Kind::rule:
        return false;
    case Algorithm::Kind::automatic:
    case Algorithm::Kind::memory:
    case Algorithm::Kind::messages:
    case Algorithm::Kind::multicast:
    case Algorithm::Kind::schedule:
        return true;
    }
    return true;
}

} // namespace

bool is_free(const Algorithm& algorithm) { return algorithm.kind() == Algorithm::Kind::automatic; }

/// Where all members share memory every blocking call goes through it: see runtime/notes/0008 for what
/// was measured.
bool Planner::goes_through_memory(const CollectiveArgs& args, const Algorithm& algorithm,
                                  bool blocking) const {
    const bool can = memory_ && blocking && host::supports(args, members_);
    if (algorithm.uses_memory() && !can)
        refuse(Status::unsupported, "{}{} can't go through shared memory: {}", to_string(args.operation),
               args.varied ? "_v" : "",
               !memory_    ? "the members of this group share none"
               : !blocking ? "a call with a future goes by messages, see Algorithm::memory()"
                           : "its elements are too large");
    return can && (algorithm.uses_memory() || is_free(algorithm));
}

std::optional<std::uint32_t> multicast_class(std::uint64_t bytes) {
    constexpr std::uint64_t kLeast = 512; // half of the first class
    if (bytes < kLeast) return std::nullopt;
    const auto doublings = static_cast<std::uint32_t>(std::bit_width(bytes / kLeast)) - 1;
    return std::min(doublings / 2, kMulticastClasses - 1);
}

/// A single member has nobody to send to.
bool Planner::goes_by_multicast(const CollectiveArgs& args, const Algorithm& algorithm, bool blocking) const {
    if (members_ == 1) return false;
    const bool fits = args.operation == Operation::broadcast && !args.varied && blocking;
    if (algorithm.uses_multicast() && !(fits && multicast_))
        refuse(Status::unsupported, "{}{} can't go by multicast: {}", to_string(args.operation),
               args.varied ? "_v" : "",
               fits        ? no_multicast_
               : !blocking ? "a call with a future goes by messages. Call it without async(), or without "
                             "Algorithm::multicast()"
                           : "it is for broadcasts alone. Call it without Algorithm::multicast()");
    if (!fits || !multicast_) return false;
    if (algorithm.uses_multicast()) return true;
    const auto size = multicast_class(args.receive_elements * args.element_bytes);
    return is_free(algorithm) && size && (*multicast_ >> *size & 1) != 0;
}

bool Planner::one_subnet(Tolerance tolerance) const {
    const Lock hold(mutex_);
    if (!network_) return true;
    std::optional<double> least;
    double most = 0;
    for (Rank a = 0; a < members_; ++a)
        for (Rank b = 0; b < a; ++b) {
            if (network_->same_host(a, b)) continue;
            least = std::min(least.value_or(network_->latency_us(a, b)), network_->latency_us(a, b));
            most = std::max(most, network_->latency_us(a, b));
        }
    return !least || tolerance.holds(most, *least);
}

PlanRequest class_of(PlanRequest request) {
    request.elements = least_of_class(request);
    return request;
}

void Planner::learn_hosts(bool one_host, Levels levels) {
    const Lock hold(mutex_);
    one_host_ = one_host;
    levels_ = std::move(levels);
    plans_.clear(); // made when nothing was known
    schedules_.clear();
}

void Planner::learn_map(MapOfMembers map, Network network, std::uint64_t map_number, std::uint32_t epoch) {
    const Lock hold(mutex_);
    map_ = std::move(map);
    network_ = std::move(network);
    map_number_ = map_number;
    epoch_.store(epoch, std::memory_order_relaxed);
    plans_.clear(); // made without this map
    schedules_.clear();
}

std::shared_ptr<const PlannedCall> Planner::prepare(const CollectiveArgs& args, const Algorithm& algorithm,
                                                    bool blocking, Lengths lengths) {
    const std::uint64_t elements = check(args, members_, me_, lengths);
    const bool memory = goes_through_memory(args, algorithm, blocking);
    const bool direct = args.varied && algorithm.schedule() == nullptr && !knows_all(args.operation, lengths);
    const bool tells = direct && blocking && !memory && args.operation != Operation::all_to_all &&
                       !goes_directly(algorithm, Pattern::star);
    const bool multicast = !memory && goes_by_multicast(args, algorithm, blocking);
    const bool hierarchical =
        !multicast && hierarchy_ != nullptr && blocking && is_free(algorithm) && hierarchy_->supports(args);
    Key key{args.operation,
            has_root(args.operation) ? args.root : 0,
            args.element_bytes,
            elements,
            number_of(algorithm),
            args.combine.commutative,
            args.operation == Operation::all_to_all && args.send == args.receive,
            !args.in_place,
            memory,
            hierarchical,
            multicast};
    if (!args.varied) {
        const Lock hold(mutex_);
        if (const auto found = schedules_.find(key); found != schedules_.end()) return found->second;
    }
    const PlanRequest request{args.operation, members_,           key.root,
                              elements,       args.element_bytes, args.combine.commutative};
    auto out = std::make_shared<PlannedCall>();
    {
        const Lock hold(mutex_);
        out->signature = {args.operation, key.root, args.element_bytes,
                          args.varied,    elements, key.algorithm ^ map_number_};
        out->signature.epoch = epoch();
    }
    out->signature.memory = memory;
    out->signature.hierarchical = hierarchical;
    out->signature.multicast = multicast;
    if (args.varied) describe_layout(out->signature, args, lengths);
    if (hierarchical) out->steps = hierarchy_->prepare(args, out->signature);
    if (tells) {
        plan_for(request, algorithm, false); // refuses what it would refuse for any lengths
        out->steps = {prepare_telling(args, out->signature)};
        out->algorithm = algorithm;
        out->signature.tells = true;
    }
    if (out->signature.by_messages()) {
        const auto part = plan_for(request, algorithm, direct);
        out->schedule = make_schedule(*part, args, lengths);
        out->signature.plan = part->plan;
    }
    out->digest = out->signature.digest();
    out->piece_bytes = piece_bytes();
    if (!args.varied) {
        const Lock hold(mutex_);
        if (schedules_.size() >= kMostSchedules) schedules_.clear();
        schedules_.emplace(key, out);
    }
    return out;
}

/// The call by which the root tells all members how many elements each part has. Its signature is that of the
/// whole call.
std::shared_ptr<const PlannedCall> Planner::prepare_telling(const CollectiveArgs& args,
                                                            const Signature& whole) {
    CollectiveArgs counts;
    counts.operation = Operation::broadcast;
    counts.root = args.root;
    counts.element_bytes = sizeof(std::uint64_t);
    counts.receive_elements = members_;
    auto out = std::make_shared<PlannedCall>(*prepare(counts, Algorithm::messages(), true));
    const std::uint64_t plan = out->signature.plan;
    out->signature = whole;
    out->signature.plan = plan;
    out->digest = out->signature.digest();
    return out;
}

/// What is sent goes from its first owner to its last one, of whom alone both know its length.
std::shared_ptr<const MemberPlan> Planner::plan_for(PlanRequest request, const Algorithm& algorithm,
                                                    bool direct) {
    if (!is_paced(algorithm)) request.elements = least_of_class(request);
    const Key key{request.operation,
                  request.root,
                  request.element_bytes,
                  request.elements,
                  number_of(algorithm),
                  request.commutative,
                  direct,
                  false,
                  false,
                  false,
                  false};
    const Lock hold(mutex_);
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    auto out = std::make_shared<const MemberPlan>(
        part(direct ? direct_plan(request, algorithm) : make(request, algorithm), me_));
    if (plans_.size() >= kMostSchedules) plans_.clear();
    plans_.emplace(key, out);
    return out;
}

Plan Planner::direct_plan(const PlanRequest& request, const Algorithm& algorithm) const {
    const bool is_exchange = request.operation == Operation::all_to_all;
    const Pattern only = is_exchange ? Pattern::pairwise : Pattern::star;
    if (!goes_directly(algorithm, only))
        refuse(Status::unsupported, "{}_v goes by {} alone: only the two ends of a message know its length{}",
               to_string(request.operation), to_string(only),
               is_exchange ? "" : ". In a blocking call the root tells all lengths first");
    if (is_exchange || !network_) return plan(request, {only});
    Tree tree(members_); // the farthest first
    tree.root = request.root;
    std::vector<Rank>& others = tree.children[request.root];
    for (Rank member = 0; member < members_; ++member)
        if (member != request.root) others.push_back(member);
    const Network& network = *network_;
    std::stable_sort(others.begin(), others.end(), [&](Rank one, Rank other) {
        return network.latency_us(request.root, one) > network.latency_us(request.root, other);
    });
    return along(tree, request, 1);
}

Plan Planner::plan_of(const PlanRequest& request, const Algorithm& algorithm) const {
    PlanRequest least = request;
    if (!is_paced(algorithm)) least.elements = least_of_class(request);
    const Lock hold(mutex_);
    Plan made = make(least, algorithm);
    made.block_elements = block_elements(request, made.block_elements.size());
    return made;
}

Plan Planner::make(const PlanRequest& request, const Algorithm& algorithm) const {
    using Kind = Algorithm::Kind;
    const Kind kind = algorithm.kind();
    if (kind == Kind::rule && !network_)
        refuse(Status::bad_argument, "the group has no map for {}: give it one in its options",
               to_string(*algorithm.rule()));
    if ((kind == Kind::eco || kind == Kind::models) && !network_)
        refuse(Status::bad_argument, "the group has no map to follow: give it one in its options");
    switch (kind) {
    case Kind::pattern:
        return plan(request, *algorithm.options());
    case Kind::rule:
        return plan_by_rule(request, *network_, *algorithm.rule(), *algorithm.levels());
    case Kind::levels:
        return plan_by_level(request, network_ ? network_->levels() : levels_, *algorithm.levels());
    case Kind::schedule:
        return to_plan(request, *algorithm.schedule());
    case Kind::models:
        return plan_by_models(request, *map_.map, map_.host_of, map_.tolerance);
    case Kind::automatic:
    case Kind::eco:
    case Kind::memory:
    case Kind::messages:
    case Kind::multicast:
        break;
    }
    return network_ ? plan_eco(request, *network_) : plan(request, options_for(request));
}

/// Without a map: few members on one host share a memory, in which everyone is as near as
/// everyone else; else what libraries take that know nothing of the network.
AlgorithmOptions Planner::options_for(const PlanRequest& request) const {
    constexpr std::uint64_t kSmall = 8192;
    const std::uint64_t bytes = request.elements * request.element_bytes;
    switch (request.operation) {
    case Operation::barrier:
        return {Pattern::bruck};
    case Operation::broadcast:
        if (one_host_ || bytes <= kSmall) return {Pattern::binomial};
        return {members_ <= 8 ? Pattern::butterfly : Pattern::ring};
    case Operation::scatter:
    case Operation::gather:
        return {one_host_ || bytes > kSmall ? Pattern::star : Pattern::binomial};
    case Operation::reduce:
        return {bytes > kSmall ? Pattern::butterfly : Pattern::binomial};
    case Operation::all_reduce:
        return {Pattern::butterfly};
    case Operation::all_gather:
        if (bytes <= kSmall) return {Pattern::bruck};
        return {one_host_ ? Pattern::pairwise : Pattern::ring};
    case Operation::reduce_scatter:
        return {bytes > kSmall && request.commutative ? Pattern::pairwise : Pattern::butterfly};
    case Operation::scan:
    case Operation::exclusive_scan:
        return {Pattern::bruck};
    case Operation::all_to_all:
        return {bytes <= 256 && !one_host_ ? Pattern::bruck : Pattern::pairwise};
    }
    return {};
}

} // namespace plexus::eco::detail
