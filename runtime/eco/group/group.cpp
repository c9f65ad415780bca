// SPDX-License-Identifier: BSD-3-Clause
// Group: a handle of a detail::GroupState.
#include "plexus/eco/group.h"

#include "group/adaptation.h"
#include "group/agreement.h"
#include "group/meeting.h"
#include "topology/refuse.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace plexus::eco {
namespace {

std::vector<std::vector<std::byte>> cut(const std::vector<std::byte>& all,
                                        const std::vector<std::uint64_t>& lengths) {
    std::vector<std::vector<std::byte>> parts;
    auto at = all.begin();
    for (const std::uint64_t length : lengths) {
        const auto end = at + static_cast<std::ptrdiff_t>(length);
        parts.emplace_back(at, end);
        at = end;
    }
    return parts;
}

/// Null: that of the group's options holds.
std::shared_ptr<const Map> refined_map(const std::shared_ptr<detail::Adaptation>& adaptation) {
    return adaptation == nullptr ? nullptr : adaptation->map();
}

/// Variable-length parts are known only to sender and receiver, so a chosen pattern does not apply: use plain
/// messages.
Algorithm for_any_length(const Algorithm& algorithm) {
    const bool open = algorithm.kind() == Algorithm::Kind::automatic || algorithm.uses_memory() ||
                      algorithm.uses_messages();
    return open ? algorithm : Algorithm::messages();
}

} // namespace

Group::Group(std::shared_ptr<detail::GroupState> state) noexcept
  : state_(std::move(state)) {
    algorithm_ = state_->options().algorithm;
}

Group Group::meet(Context& here, std::string_view name, Rank rank, Rank size, const GroupOptions& options) {
    return Group(detail::meet(here, name, rank, size, options));
}

Group Group::world(Context& here, const GroupOptions& options) {
    return meet(here, "world", here.rank(), here.size(), options);
}

Group Group::of(Context& here, std::span<const Rank> world_ranks, const GroupOptions& options) {
    std::uint64_t hash = plexus::detail::mix(0xcbf29ce484222325ull, "of");
    std::optional<Rank> me;
    for (std::size_t place = 0; place < world_ranks.size(); ++place) {
        const Rank rank = world_ranks[place];
        if (rank >= here.size())
            refuse(Status::bad_argument, "there is no rank {} in a job of {}", rank, here.size());
        if (std::find(world_ranks.begin(), world_ranks.begin() + static_cast<std::ptrdiff_t>(place), rank) !=
            world_ranks.begin() + static_cast<std::ptrdiff_t>(place))
            refuse(Status::bad_argument, "rank {} is in the list twice", rank);
        if (rank == here.rank()) me = static_cast<Rank>(place);
        hash = plexus::detail::mix(hash, rank);
    }
    if (!me)
        refuse(Status::bad_argument, "rank {} is not in the list of the group that it makes", here.rank());
    return meet(here, fmt::format("of {:x}", hash), *me, static_cast<Rank>(world_ranks.size()), options);
}

Rank Group::rank() const noexcept { return state_->me(); }
Rank Group::size() const noexcept { return state_->size(); }

const ContextId& Group::context_of(Rank member) const {
    if (member >= size()) refuse(Status::bad_argument, "there is no member {} among {}", member, size());
    return state_->members()[member].mailbox.context();
}

const std::string& Group::host_of(Rank member) const {
    context_of(member);
    return state_->members()[member].facts.host;
}

std::optional<Rank> Group::rank_in(const Group& other, Rank member) const {
    const ContextId& context = context_of(member);
    for (Rank each = 0; each < other.size(); ++each)
        if (other.context_of(each) == context) return each;
    return std::nullopt;
}

Group Group::split(std::int64_t colour, std::int64_t key) const {
    struct Choice {
        std::int64_t colour;
        std::int64_t key;
    };
    const Choice mine{colour, key};
    std::vector<Choice> choices(size());
    // A schedule is for the members of this group.
    const Algorithm algorithm = algorithm_.schedule() == nullptr ? algorithm_ : Algorithm();
    with(supports(algorithm, Operation::all_gather) ? algorithm : Algorithm())
        .all_gather(std::span(&mine, 1), std::span(choices));
    const std::uint64_t child = state_->count_child();
    if (colour == kNoColour) return {};
    std::vector<Rank> ranks;
    for (Rank member = 0; member < size(); ++member)
        if (choices[member].colour == colour) ranks.push_back(member);
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](Rank a, Rank b) { return choices[a].key < choices[b].key; });
    const std::uint64_t salt = plexus::detail::mix(2 * child, static_cast<std::uint64_t>(colour));
    return Group(detail::branch(*state_, ranks, salt, false, refined_map(adaptation_))).with(algorithm);
}

Group Group::dup() const {
    std::vector<Rank> ranks(size());
    for (Rank member = 0; member < size(); ++member) ranks[member] = member;
    return Group(
               detail::branch(*state_, ranks, 2 * state_->count_child() + 1, false, refined_map(adaptation_)))
        .with(algorithm_);
}

Group Group::adapt(const AdaptOptions& options) const {
    if (state_->options().map == nullptr)
        refuse(Status::bad_argument, "adapt: the group has no map: give it one in its options");
    Group out = dup().with(deadline_);
    out.adaptation_ = std::make_shared<detail::Adaptation>(out.state_, options);
    return out;
}

AdaptReport adaptation_of(const Group& group) {
    return group.adaptation_ == nullptr ? AdaptReport() : group.adaptation_->report();
}

Group Group::with(Algorithm algorithm) const {
    Group out(*this);
    out.algorithm_ = std::move(algorithm);
    return out;
}

Group Group::by(const GroupSchedule& schedule, Rank from) const {
    return with(Algorithm::by(detail::agree_on(with(Algorithm()), schedule, from)));
}

Group Group::with(Deadline deadline) const {
    Group out(*this);
    out.deadline_ = deadline;
    return out;
}

// Lengths first, then the bytes: they differ from member to member.

std::vector<Group::Bytes> Group::gather_bytes(const Bytes& mine, Rank root) const {
    const std::uint64_t length = mine.size();
    std::vector<std::uint64_t> lengths(rank() == root ? size() : 0);
    gather(std::span(&length, 1), std::span(lengths), root);
    Bytes all(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    with(for_any_length(algorithm_)).gather_v(std::span(mine), std::span(all), Layout{lengths, {}}, root);
    return cut(all, lengths);
}

std::vector<Group::Bytes> Group::all_gather_bytes(const Bytes& mine) const {
    const std::uint64_t length = mine.size();
    std::vector<std::uint64_t> lengths(size());
    all_gather(std::span(&length, 1), std::span(lengths));
    Bytes all(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    all_gather_v(std::span(mine), std::span(all), Layout{lengths, {}});
    return cut(all, lengths);
}

Group::Bytes Group::scatter_bytes(const std::vector<Bytes>& all, Rank root) const {
    if (rank() == root && all.size() != size())
        refuse(Status::bad_argument, "scatter: {} values for {} members", all.size(), size());
    std::vector<std::uint64_t> lengths;
    Bytes together;
    for (const Bytes& each : all) {
        lengths.push_back(each.size());
        together.insert(together.end(), each.begin(), each.end());
    }
    std::uint64_t length = 0;
    scatter(std::span(lengths), std::span(&length, 1), root);
    Bytes mine(length);
    with(for_any_length(algorithm_))
        .scatter_v(std::span(together), Layout{lengths, {}}, std::span(mine), root);
    return mine;
}

double Group::cost_us(Rank a, Rank b) const {
    const std::optional<double> measured = state_->planner().latency_us(a, b);
    return measured ? *measured : host_of(a) == host_of(b) ? 1 : 100;
}

Plan Group::plan_of(const PlanRequest& request) const {
    return state_->planner().plan_of(request, algorithm_);
}

void Group::begin(const detail::CollectiveArgs& args) const {
    if (adaptation_ != nullptr) return adaptation_->run(args, algorithm_, deadline_);
    state_->run(state_->prepare(args, algorithm_, true), args, state_->ends_at(deadline_));
}

Future<void> AsyncGroup::begin(const detail::CollectiveArgs& args) const {
    return state_->start(state_->prepare(args, algorithm_, false), args, state_->ends_at(deadline_));
}

} // namespace plexus::eco
