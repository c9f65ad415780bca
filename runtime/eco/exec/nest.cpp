// SPDX-License-Identifier: BSD-3-Clause
#include "exec/nest.h"

#include "exec/meeting.h"
#include "host/layout.h"
#include "plexus/eco/group.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <new>
#include <string_view>

namespace plexus::eco::exec {
namespace {

/// Of more bytes the messages of a plan are on their way while others are still copied, which the
/// steps here are not.
constexpr std::size_t kMost = std::size_t{256} << 10;

} // namespace

std::shared_ptr<Nest> Nest::of(Team& all) {
    auto nest = std::make_shared<Nest>();
    nest->me_ = all.me();
    std::vector<std::vector<Rank>> houses;
    std::map<std::string_view, Rank> known;
    for (Rank member = 0; member < all.size(); ++member) {
        const auto [found, is_new] =
            known.try_emplace(all.members()[member].host, static_cast<Rank>(houses.size()));
        if (is_new) houses.emplace_back();
        std::vector<Rank>& house = houses[found->second];
        nest->homes_.push_back({found->second, static_cast<Rank>(house.size())});
        house.push_back(member);
        nest->largest_ = std::max(nest->largest_, house.size());
    }
    if (houses.size() < 2 || nest->largest_ < 2 || nest->largest_ > host::kMostMembers) return nullptr;

    constexpr std::uint64_t kSalt = 0x6e657374; // no child of the group has one of these
    const Rank house = nest->mine().house;
    nest->inside_ = branch(all, houses[house], plexus::detail::mix(kSalt, house + 1), true);
    const bool shares = houses[house].size() == 1 || nest->inside_->shares_memory();
    const Group group = Group(all.shared_from_this()).by(How::messages());
    if (group.all_reduce(static_cast<std::uint8_t>(shares), Min{}) == 0) return nullptr;
    std::vector<Rank> coordinators;
    for (const auto& each : houses) coordinators.push_back(each.front());
    if (nest->mine().inside == 0)
        nest->coordinators_ = branch(all, coordinators, plexus::detail::mix(kSalt, 0), true);
    return nest;
}

bool Nest::suits(const detail::Work& work) const noexcept {
    const auto fits = [&](std::size_t elements) { return elements * work.element_bytes <= kMost; };
    switch (work.operation) {
    case Operation::barrier:
        return true;
    case Operation::broadcast:
        return fits(work.receive_elements);
    case Operation::reduce:
    case Operation::all_reduce: // those of one host are combined first, whatever their ranks
        return fits(work.send_elements) && work.combine.commutative &&
               largest_ * work.element_bytes <= host::kSlot;
    default:
        return false;
    }
}

std::size_t Nest::scratch_bytes(const detail::Work& work) const noexcept {
    const bool keeps = work.operation == Operation::reduce && coordinators_ != nullptr && inside_->size() > 1;
    return keeps ? work.send_elements * work.element_bytes : 0;
}

Nest::Steps Nest::steps(const detail::Work& work, std::byte* scratch) const {
    Steps out;
    std::size_t count = 0;
    const auto add = [&](Team* team, Operation operation, Rank root, const std::byte* send,
                         std::byte* receive) {
        if (team == nullptr || team->size() == 1) return;
        Step& step = out[count++];
        step.team = team;
        step.work = work;
        step.work.operation = operation;
        step.work.root = root;
        step.work.send = send;
        step.work.receive = receive;
        step.work.send_elements = step.work.receive_elements =
            work.operation == Operation::broadcast ? work.receive_elements : work.send_elements;
    };
    Team* const inside = inside_.get();
    Team* const coordinators = coordinators_.get();
    const bool leads = coordinators != nullptr;
    const bool alone = inside->size() == 1;
    const Home& root = homes_[work.root];
    const bool at_root = root.house == mine().house;
    switch (work.operation) {
    case Operation::barrier:
        add(inside, Operation::barrier, 0, nullptr, nullptr);
        add(coordinators, Operation::barrier, 0, nullptr, nullptr);
        add(inside, Operation::barrier, 0, nullptr, nullptr);
        break;
    case Operation::broadcast: {
        const bool inside_first = at_root && root.inside != 0;
        if (inside_first) add(inside, Operation::broadcast, root.inside, work.receive, work.receive);
        add(coordinators, Operation::broadcast, root.house, work.receive, work.receive);
        if (!inside_first) add(inside, Operation::broadcast, 0, work.receive, work.receive);
        break;
    }
    case Operation::reduce:
        if (at_root) { // what the others come to is the coordinator's, and goes to the root with its house's
            add(coordinators, Operation::reduce, root.house, work.send, alone ? work.receive : scratch);
            add(inside, Operation::reduce, root.inside, leads ? scratch : work.send, work.receive);
        } else {
            add(inside, Operation::reduce, 0, work.send, scratch);
            add(coordinators, Operation::reduce, root.house, alone ? work.send : scratch, nullptr);
        }
        break;
    default: // all_reduce: suits()
        add(inside, Operation::reduce, 0, work.send, work.receive);
        add(coordinators, Operation::all_reduce, 0, alone ? work.send : work.receive, work.receive);
        add(inside, Operation::broadcast, 0, work.receive, work.receive);
    }
    return out;
}

std::vector<std::shared_ptr<const Prepared>> Nest::prepare(const detail::Work& work,
                                                           const Signature& whole) const {
    std::vector<std::shared_ptr<const Prepared>> out;
    for (const Step& step : steps(work, nullptr)) {
        if (step.team == nullptr) break;
        const How how = step.team == inside_.get() ? How::memory() : How();
        auto part = std::make_shared<Prepared>(*step.team->prepare(step.work, how, true));
        const Signature own = part->signature;
        part->signature = whole;
        part->signature.memory = own.memory;
        part->signature.nested = false;
        part->signature.plan = own.plan;
        part->digest = part->signature.digest();
        out.push_back(std::move(part));
    }
    return out;
}

void Nest::run(const Prepared& prepared, const detail::Work& work, std::byte* scratch) const {
    const Steps all = steps(work, scratch);
    for (std::size_t i = 0; i < prepared.steps.size(); ++i) all[i].team->run(prepared.steps[i], all[i].work);
}

void Nest::break_up(Status status, const std::string& why) const {
    inside_->break_up(status, why, false);
    if (coordinators_ != nullptr) coordinators_->break_up(status, why, false);
}

void Team::run_nested(std::shared_ptr<const Prepared> prepared, const detail::Work& work) {
    std::unique_lock hold(hub_->mutex());
    if (broken_) throw_broken();
    std::unique_ptr<Call> fresh = spare();
    if (const std::size_t bytes = nest_->scratch_bytes(work); bytes > 0)
        fresh->scratch = hub_->pool().take(bytes);
    fresh->prepared = std::move(prepared);
    Call& call = enter(std::move(fresh), hold);
    hold.unlock();
    bool whole = false;
    try {
        nest_->run(*call.prepared, work, call.scratch.data());
        whole = true;
    } catch (const Error& error) {
        break_up(error.status(), error.what(), true); // no news, if a part of it broke
    } catch (const std::bad_alloc&) {
        break_up(Status::too_large, fmt::format("member {} has no memory left for its call", me_), true);
    }
    hold.lock();
    release(call);
    if (!whole) throw_broken();
}

} // namespace plexus::eco::exec
