// SPDX-License-Identifier: BSD-3-Clause
#include "group/mailbox.h"

#include "group/group_state.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace plexus::eco::detail {
namespace {

constexpr std::size_t kRemembered = 4096; // groups that were left, or can't begin
/// Of messages for groups that do not exist here yet: members that met earlier may have begun.
constexpr std::size_t kMostPendingBytes = std::size_t{64} << 20;

/// What is known of the contexts of this process. A handler, once installed, stays.
struct Known {
    std::weak_ptr<plexus::detail::Core> core;
    std::weak_ptr<Mailbox> mailbox;
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

std::shared_ptr<Mailbox> Mailbox::of(Context& context) {
    Book& all = book();
    const std::lock_guard hold(all.mutex);
    Known& known = all.of(context);
    if (auto mailbox = known.mailbox.lock()) return mailbox;
    auto mailbox = std::make_shared<Mailbox>(context);
    if (!known.installed) mailbox->install();
    known.installed = true;
    known.mailbox = mailbox;
    return mailbox;
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

Mailbox::Mailbox(Context& context)
  : context_(context)
  , bound_(context.bind(*this)) {}

Mailbox::~Mailbox() { bound_.reset(); }

void Mailbox::install() {
    context_.on(kArrive, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call, std::uint32_t slot,
                            std::uint32_t digest, Rank sender, Bytes bytes) {
        mailbox.arrive(id, {call, slot & ~kLastPiece, (slot & kLastPiece) != 0, digest, sender}, bytes);
    });
    context_.on(kAsk, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call) -> std::string {
        const std::lock_guard hold(mailbox.mutex_);
        GroupState* const group = mailbox.find(id);
        return group != nullptr ? group->text_of(call) : "something else and has left the group";
    });
    context_.on(kRoster, [](Mailbox& mailbox, std::uint64_t id) { return mailbox.take_roster(id); });
    context_.on(kAlive, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call, std::uint32_t digest) {
        const std::lock_guard hold(mailbox.mutex_);
        GroupState* const group = mailbox.find(id);
        if (group == nullptr)
            return static_cast<std::uint8_t>(mailbox.has_left(id) ? Presence::left : Presence::here);
        return static_cast<std::uint8_t>(group->presence(call, digest));
    });
    context_.on(kBroken, [](Mailbox& mailbox, std::uint64_t id, std::int32_t status, const std::string& why) {
        const auto self = mailbox.shared_from_this();
        std::shared_ptr<GroupState> group;
        {
            const std::lock_guard hold(mailbox.mutex_);
            if (GroupState* const found = mailbox.find(id)) {
                group = found->weak_from_this().lock();
            } else if (!mailbox.has_left(id) && mailbox.broken_early_.size() < kRemembered) {
                mailbox.broken_early_.try_emplace(id, static_cast<Status>(status), why);
            }
        }
        if (group != nullptr) group->break_up(static_cast<Status>(status), why, false);
        return true;
    });
}

void Mailbox::arrive(std::uint64_t id, const MessageHeader& head, Bytes bytes) {
    const auto self = weak_from_this().lock(); // the last of its groups may end in here
    if (self == nullptr) return;
    std::shared_ptr<GroupState> group; // ends after the lock: with it the group may
    std::unique_lock hold(mutex_);
    if (GroupState* const found = find(id)) {
        group = found->weak_from_this().lock(); // null: it is just ending
        if (group != nullptr) group->arrive(head, bytes, hold);
        return;
    }
    if (has_left(id) || broken_early_.count(id) > 0) return;
    if (pending_bytes_ + early_size(bytes.size()) > kMostPendingBytes) return refuse_pending(id);
    pending_bytes_ += early_size(bytes.size());
    pending_[id].emplace_back(head, bytes);
}

void Mailbox::refuse_pending(std::uint64_t id) {
    if (const auto early = pending_.find(id); early != pending_.end()) {
        for (const EarlyMessage& each : early->second) pending_bytes_ -= early_size(each.size);
        pending_.erase(early);
    }
    if (broken_early_.size() >= kRemembered) return;
    broken_early_.try_emplace(
        id, Status::too_large,
        fmt::format("members sent more than {} bytes to this one before it had joined the group: let all "
                    "meet at a barrier before large transfers",
                    kMostPendingBytes));
}

GroupState* Mailbox::find(std::uint64_t id) const {
    const auto found = groups_.find(id);
    return found == groups_.end() ? nullptr : found->second;
}

bool Mailbox::has_left(std::uint64_t id) const {
    return std::find(left_.begin(), left_.end(), id) != left_.end();
}

void Mailbox::keep_roster(std::uint64_t id, std::vector<GlobalPointer<Mailbox>> members, Rank askers) {
    const std::lock_guard hold(mutex_);
    rosters_.insert_or_assign(id, Roster{std::move(members), askers});
}

std::vector<GlobalPointer<Mailbox>> Mailbox::take_roster(std::uint64_t id) {
    const std::lock_guard hold(mutex_);
    const auto found = rosters_.find(id);
    if (found == rosters_.end()) return {};
    if (--found->second.askers > 0) return found->second.members;
    auto last = std::move(found->second.members);
    rosters_.erase(found);
    return last;
}

void Mailbox::enter(std::uint64_t id, GroupState& group) {
    const std::lock_guard hold(mutex_);
    groups_[id] = &group;
    if (const auto early = pending_.find(id); early != pending_.end()) {
        for (const EarlyMessage& each : early->second) pending_bytes_ -= early_size(each.size);
        group.take_early(std::move(early->second));
        pending_.erase(early);
    }
    if (const auto broken = broken_early_.find(id); broken != broken_early_.end()) {
        group.fail_later(broken->second.first, std::move(broken->second.second));
        broken_early_.erase(broken);
    }
}

void Mailbox::leave(std::uint64_t id) {
    const std::lock_guard hold(mutex_);
    groups_.erase(id);
    left_.push_front(id);
    if (left_.size() > kRemembered) left_.pop_back();
}

Monitor& Mailbox::watch() {
    const std::lock_guard hold(mutex_);
    if (monitor_ == nullptr) monitor_ = std::make_unique<Monitor>();
    return *monitor_;
}

} // namespace plexus::eco::detail
