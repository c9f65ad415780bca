// SPDX-License-Identifier: BSD-3-Clause
#include "exec/hub.h"

#include "exec/team.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace plexus::eco::exec {
namespace {

constexpr std::size_t kRemembered = 4096; // groups that were left, or can't begin
/// Of messages for groups that do not exist here yet: members that met earlier may have begun.
constexpr std::size_t kMostUnborn = std::size_t{64} << 20;

/// What is known of the contexts of this process. A handler, once installed, stays.
struct Known {
    std::weak_ptr<plexus::detail::Core> core;
    std::weak_ptr<Hub> hub;
    bool installed = false;
    std::map<std::string, std::uint64_t, std::less<>> meetings;
};

struct Book {
    std::mutex mutex;
    std::unordered_map<ContextId, Known> contexts;

    Known& of(Context& context) {
        std::erase_if(contexts, [](const auto& each) { return each.second.core.expired(); });
        Known& known = contexts[context.id()];
        known.core = context.core();
        return known;
    }
};

Book& book() {
    static Book the_book;
    return the_book;
}

} // namespace

std::shared_ptr<Hub> Hub::of(Context& context) {
    Book& all = book();
    const std::lock_guard hold(all.mutex);
    Known& known = all.of(context);
    if (auto hub = known.hub.lock()) return hub;
    auto hub = std::make_shared<Hub>(context);
    if (!known.installed) hub->install();
    known.installed = true;
    known.hub = hub;
    return hub;
}

std::uint64_t count_meeting(Context& context, std::string_view name) {
    Book& all = book();
    const std::lock_guard hold(all.mutex);
    auto& meetings = all.of(context).meetings;
    const auto found = meetings.find(name);
    if (found != meetings.end()) return ++found->second;
    meetings.emplace(name, 0);
    return 0;
}

Hub::Hub(Context& context)
  : context_(context)
  , bound_(context.bind(*this)) {}

Hub::~Hub() { bound_.reset(); }

void Hub::install() {
    context_.on(kArrive, [](Hub& hub, std::uint64_t group, std::uint32_t call, std::uint32_t slot,
                            std::uint32_t digest, Rank sender, Bytes bytes) {
        hub.arrive(group, {call, slot & ~kLastPiece, (slot & kLastPiece) != 0, digest, sender}, bytes);
    });
    context_.on(kAsk, [](Hub& hub, std::uint64_t group, std::uint32_t call) -> std::string {
        const std::lock_guard hold(hub.mutex_);
        Team* const team = hub.find(group);
        return team != nullptr ? team->text_of(call) : "something else and has left the group";
    });
    context_.on(kRoster, [](Hub& hub, std::uint64_t group) { return hub.take_roster(group); });
    context_.on(kAlive, [](Hub& hub, std::uint64_t group, std::uint32_t call, std::uint32_t digest) {
        const std::lock_guard hold(hub.mutex_);
        Team* const team = hub.find(group);
        if (team == nullptr)
            return static_cast<std::uint8_t>(hub.has_left(group) ? Presence::left : Presence::here);
        return static_cast<std::uint8_t>(team->presence(call, digest));
    });
    context_.on(kBroken, [](Hub& hub, std::uint64_t group, std::int32_t status, const std::string& why) {
        const auto self = hub.shared_from_this();
        std::shared_ptr<Team> team;
        {
            const std::lock_guard hold(hub.mutex_);
            if (Team* const found = hub.find(group)) {
                team = found->weak_from_this().lock();
            } else if (!hub.has_left(group) && hub.stillborn_.size() < kRemembered) {
                hub.stillborn_.try_emplace(group, static_cast<Status>(status), why);
            }
        }
        if (team != nullptr) team->break_up(static_cast<Status>(status), why, false);
        return true;
    });
}

void Hub::arrive(std::uint64_t group, const Head& head, Bytes bytes) {
    const auto self = weak_from_this().lock(); // the last of its groups may end in here
    if (self == nullptr) return;
    std::shared_ptr<Team> team; // ends after the lock: with it the group may
    std::unique_lock hold(mutex_);
    if (Team* const found = find(group)) {
        team = found->weak_from_this().lock(); // null: it is just ending
        if (team != nullptr) team->arrive(head, bytes, hold);
        return;
    }
    if (has_left(group) || stillborn_.count(group) > 0) return;
    if (unborn_bytes_ + early_size(bytes.size()) > kMostUnborn) return refuse_unborn(group);
    unborn_bytes_ += early_size(bytes.size());
    unborn_[group].emplace_back(head, bytes);
}

void Hub::refuse_unborn(std::uint64_t group) {
    if (const auto early = unborn_.find(group); early != unborn_.end()) {
        for (const Early& each : early->second) unborn_bytes_ -= early_size(each.size);
        unborn_.erase(early);
    }
    if (stillborn_.size() >= kRemembered) return;
    stillborn_.try_emplace(
        group, Status::too_large,
        fmt::format("members sent more than {} bytes to this one before it had joined the group: let all "
                    "meet at a barrier before large transfers",
                    kMostUnborn));
}

Team* Hub::find(std::uint64_t id) const {
    const auto found = teams_.find(id);
    return found == teams_.end() ? nullptr : found->second;
}

bool Hub::has_left(std::uint64_t id) const {
    return std::find(left_.begin(), left_.end(), id) != left_.end();
}

void Hub::keep_roster(std::uint64_t id, std::vector<GlobalPointer<Hub>> members, Rank askers) {
    const std::lock_guard hold(mutex_);
    rosters_.insert_or_assign(id, Roster{std::move(members), askers});
}

std::vector<GlobalPointer<Hub>> Hub::take_roster(std::uint64_t id) {
    const std::lock_guard hold(mutex_);
    const auto found = rosters_.find(id);
    if (found == rosters_.end()) return {};
    if (--found->second.askers > 0) return found->second.members;
    auto last = std::move(found->second.members);
    rosters_.erase(found);
    return last;
}

void Hub::enter(std::uint64_t id, Team& team) {
    const std::lock_guard hold(mutex_);
    teams_[id] = &team;
    if (const auto early = unborn_.find(id); early != unborn_.end()) {
        for (const Early& each : early->second) unborn_bytes_ -= early_size(each.size);
        team.take_early(std::move(early->second));
        unborn_.erase(early);
    }
    if (const auto broken = stillborn_.find(id); broken != stillborn_.end()) {
        team.fail_later(broken->second.first, std::move(broken->second.second));
        stillborn_.erase(broken);
    }
}

void Hub::leave(std::uint64_t id) {
    const std::lock_guard hold(mutex_);
    teams_.erase(id);
    left_.push_front(id);
    if (left_.size() > kRemembered) left_.pop_back();
}

Watch& Hub::watch() {
    const std::lock_guard hold(mutex_);
    if (watch_ == nullptr) watch_ = std::make_unique<Watch>();
    return *watch_;
}

} // namespace plexus::eco::exec
