// SPDX-License-Identifier: BSD-3-Clause
#include "group/group_state.h"

#include "group/map_number.h"
#include "group/run_here.h"

#include <fmt/format.h>
#include <new>
#include <utility>

namespace plexus::eco::detail {
namespace {

/// Two maps that could lead to different plans have different numbers. Never 0.
std::uint64_t number_of(const Map& map, const Tolerance& tolerance) {
    using plexus::detail::mix;
    const std::uint64_t number = mix(mix(0xcbf29ce484222325ull, tolerance.numerator), tolerance.denominator);
    return mix_costs(number, map) | 1;
}

} // namespace

GroupState::GroupState(Membership members)
  : members_(std::move(members))
  , planner_(size(), me())
  , calls_(members_)
  , failures_(*this)
  , waiter_(*this)
  , messages_(*this)
  , memory_(*this)
  , multicast_(*this) {}

std::shared_ptr<GroupState> GroupState::make(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                                             std::vector<Member> members, GroupOptions options,
                                             ParentGroup parent) {
    auto group = std::make_shared<GroupState>(
        Membership(std::move(mailbox), id, me, std::move(members), std::move(options), std::move(parent)));
    group->members_.mailbox()->enter(id, group);
    return group;
}

GroupState::~GroupState() { members_.mailbox()->leave(members_.id()); }

void GroupState::learn_facts(std::vector<MemberFacts> facts) {
    members_.learn(std::move(facts));
    planner_.learn_hosts(members_.on_one_host(), members_.levels());
    if (options().map != nullptr) learn_map(options().map, 0);
}

void GroupState::learn_map(const std::shared_ptr<const Map>& map, std::uint32_t epoch) {
    MapOfMembers known{map, {}, options().tolerance};
    for (const Member& each : members_.all()) known.host_of.push_back(map->index_of(each.facts.host));
    Network network(*map, known.host_of, known.tolerance, Symmetry::mean, LocalCost{}, members_.sockets());
    planner_.learn_map(std::move(known), std::move(network), number_of(*map, options().tolerance), epoch);
    // Of the first map the parts know from the options.
    if (const auto parts = hierarchy()) parts->learn_map(map, epoch);
}

void GroupState::make_hierarchy() {
    const auto made = Hierarchy::of(*this);
    if (made == nullptr) return;
    planner_.learn_hierarchy(*made);
    const Lock hold(mutex_);
    hierarchy_ = made;
}

std::shared_ptr<const Hierarchy> GroupState::hierarchy() const {
    const Lock hold(mutex_);
    return hierarchy_;
}

std::shared_ptr<const PlannedCall> GroupState::prepare(const CollectiveArgs& args, const Algorithm& algorithm,
                                                       bool blocking) {
    return planner_.prepare(args, algorithm, blocking);
}

void GroupState::run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                     Clock::time_point deadline) {
    const Signature& call = planned->signature;
    if (members_.context().inside_handler())
        throw Error(Status::would_deadlock,
                    fmt::format("a {} inside an inline handler would wait for what this thread has to "
                                "receive. Register the handler as threaded, or use async() and then()",
                                call.text()));
    if (call.memory) return memory_.run(std::move(planned), args, deadline);
    if (call.multicast) return multicast_.run(std::move(planned), args, deadline);
    if (call.hierarchical) return run_hierarchical(std::move(planned), args, deadline);
    if (call.tells) return run_telling(*planned, args, deadline);
    messages_.run(std::move(planned), args, deadline);
}

void GroupState::run_hierarchical(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                                  Clock::time_point deadline) {
    const std::shared_ptr<const Hierarchy> parts = hierarchy();
    std::unique_ptr<Execution> fresh = calls_.make(parts->scratch_bytes(args));
    fresh->planned = std::move(planned);
    Execution& call = enter(std::move(fresh));
    run_here(*this, call, [&] {
        parts->run(*call.planned, args, call.scratch.data(), deadline);
        return true;
    });
}

/// A gather_v or scatter_v in which members pass on what is others': first the root tells how many elements
/// each part has, then all plan the call for these lengths.
void GroupState::run_telling(const PlannedCall& planned, CollectiveArgs args, Clock::time_point deadline) {
    const bool scatters = args.operation == Operation::scatter;
    Layout& layout = scatters ? args.send_layout : args.receive_layout;
    const std::uint64_t mine = scatters ? args.receive_elements : args.send_elements;
    std::vector<std::uint64_t> counts(size());
    if (me() == args.root) counts.assign(layout.counts.begin(), layout.counts.end());
    CollectiveArgs telling;
    telling.receive = reinterpret_cast<std::byte*>(counts.data());
    messages_.run(planned.steps.front(), telling, deadline);
    if (me() != args.root) layout = {counts, {}};
    std::string wrong;
    if (!fit_into_memory(counts, args.element_bytes))
        wrong = fmt::format("member {} tells lengths that no memory has, in its {}", members_.name(args.root),
                            planned.signature.text());
    else if (const std::uint64_t told = counts[me()]; told != mine)
        wrong = planned.signature.uneven(
            members_.name(scatters ? args.root : me()), (scatters ? told : mine) * args.element_bytes, false,
            members_.name(scatters ? me() : args.root), (scatters ? mine : told) * args.element_bytes);
    if (!wrong.empty()) {
        break_up(Status::bad_argument, wrong, true);
        calls_.throw_broken();
    }
    try {
        messages_.run(planner_.prepare(args, planned.algorithm, true, Lengths::told), args, deadline);
    } catch (const std::bad_alloc&) {
        break_for_memory();
        calls_.throw_broken();
    }
}

Future<void> GroupState::start(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                               Clock::time_point deadline,
                               std::shared_ptr<plexus::detail::CallState>* state) {
    return messages_.start(std::move(planned), args, deadline, state);
}

void GroupState::arrive(const MessageHeader& head, Bytes bytes) {
    Consequence what;
    try {
        what = calls_.arrive(head, bytes);
    } catch (const std::bad_alloc&) { return break_for_memory(); } // to keep the message
    if (what.kind != Consequence::Kind::none) act(std::move(what));
}

Execution& GroupState::enter(std::unique_ptr<Execution> fresh) {
    std::vector<Consequence> consequences;
    Execution& call = calls_.enter(std::move(fresh), consequences);
    for (Consequence& each : consequences) act(std::move(each));
    return call;
}

void GroupState::act(Consequence what) {
    switch (what.kind) {
    case Consequence::Kind::none:
        return;
    case Consequence::Kind::resume:
        if (what.call != nullptr) return messages_.advance(*what.call);
        if (what.sleeper != nullptr) settle(*what.sleeper, Status::ok, {});
        return;
    case Consequence::Kind::differ:
        return failures_.differ(what.sender, what.number);
    case Consequence::Kind::break_up:
        return break_up(what.status, what.why, true);
    }
}

ShownGroup GroupState::shown() const {
    ShownGroup shown;
    shown.id = members_.id();
    shown.rank = me();
    shown.members = size();
    shown.refinements = planner_.epoch();
    calls_.show(shown);
    return shown;
}

void GroupState::break_for_memory() { break_up(Status::too_large, members_.text_of_no_memory(), true); }

void GroupState::break_up(Status status, const std::string& why, bool tell) {
    // The whole group first, which then breaks its parts: a thread that wakes up in a part finds the whole
    // group broken.
    if (const auto whole = members_.parent().whole.lock()) whole->break_up(status, why, tell);
    const std::function<void()> end_calls = break_now(status, why);
    if (end_calls == nullptr) return;
    if (const auto parts = hierarchy()) parts->break_up(status, why);
    if (tell) failures_.tell_others(status, why);
    end_calls();
}

std::function<void()> GroupState::break_now(Status status, const std::string& why) {
    std::vector<Execution*> ours;
    if (!calls_.break_up(status, why, ours)) return {};
    return [group = shared_from_this(), ours = std::move(ours)] {
        for (Execution* each : ours) group->messages_.finish(*each);
    };
}

} // namespace plexus::eco::detail
