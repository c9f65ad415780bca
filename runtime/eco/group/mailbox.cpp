// SPDX-License-Identifier: BSD-3-Clause
#include "group/mailbox.h"

#include "group/group_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

namespace plexus::eco::detail {
namespace {

constexpr std::size_t kRemembered = 4096; // groups that were left, or cannot begin
/// Limit of messages for groups that do not exist here yet: members that joined earlier may have begun.
constexpr std::size_t kMostPendingBytes = std::size_t{64} << 20;
/// How long a request to this context itself may wait for room.
constexpr std::chrono::milliseconds kRoomForJobs{20};
/// After this time such a request is sent again.
constexpr std::chrono::milliseconds kPostAgain{5};
/// How long run_in_handler() makes progress for its job.
constexpr std::chrono::milliseconds kWaitForJob{100};
/// After this time a member whose queue was full is told again.
constexpr std::chrono::milliseconds kTellAgain{20};

/// What is known of a context of this process. Handlers, once installed, stay.
struct KnownContext {
    std::weak_ptr<plexus::detail::Core> core;
    std::weak_ptr<Mailbox> mailbox;
    bool installed = false;
    std::map<std::string, std::uint64_t, std::less<>> meetings;
};

struct KnownContexts {
    RankedMutex<9> mutex;
    std::unordered_map<ContextId, KnownContext> all PLEXUS_GUARDED_BY(mutex);

    KnownContext& of(Context& context) PLEXUS_REQUIRES(mutex) {
        std::erase_if(all, [](const auto& each) { return each.second.core.expired(); });
        KnownContext& known = all[context.id()];
        known.core = context.core();
        return known;
    }
};

KnownContexts& contexts() {
    static auto& known = *new KnownContexts; // outlives contexts that end at exit
    return known;
}

/// Null: that context has no groups now.
std::shared_ptr<Mailbox> known_mailbox(const ContextId& id) {
    KnownContexts& known = contexts();
    const Lock hold(known.mutex);
    const auto found = known.all.find(id);
    return found == known.all.end() ? nullptr : found->second.mailbox.lock();
}

/// True while this thread runs jobs, whose context may have ended if this is no handler.
thread_local bool runs_jobs = false;

} // namespace

/// What of() returns. Handlers and the monitor keep the mailbox while they use it. The context waits for
/// handlers when it closes, but knows nothing of the monitor: the last holder stops the monitor.
struct Mailbox::Holder {
    std::shared_ptr<Mailbox> mailbox;

    explicit Holder(std::shared_ptr<Mailbox> held)
      : mailbox(std::move(held)) {}
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() {
        const std::shared_ptr<Monitor> monitor = mailbox->any_monitor();
        mailbox.reset();
        if (monitor != nullptr) monitor->stop();
    }
};

std::shared_ptr<Mailbox> Mailbox::of(Context& context) {
    KnownContexts& known = contexts();
    const Lock hold(known.mutex);
    KnownContext& entry = known.of(context);
    if (auto mailbox = entry.mailbox.lock()) return mailbox;
    const auto holder = std::make_shared<Holder>(std::make_shared<Mailbox>(context));
    std::shared_ptr<Mailbox> mailbox(holder, holder->mailbox.get());
    if (!entry.installed) {
        mailbox->install();
        context.at_close([id = context.id()] {
            if (const auto open = known_mailbox(id)) open->close();
        });
        context.show_groups([id = context.id()](const ShowGroup& show) {
            if (const auto open = known_mailbox(id)) open->show(show);
        });
    }
    entry.installed = true;
    entry.mailbox = mailbox;
    return mailbox;
}

std::uint64_t count_meeting(Context& context, std::string_view name) {
    KnownContexts& known = contexts();
    const Lock hold(known.mutex);
    auto& meetings = known.of(context).meetings;
    const auto found = meetings.find(name);
    if (found != meetings.end()) return ++found->second;
    meetings.emplace(name, 0);
    return 0;
}

Mailbox::Mailbox(Context& context)
  : context_(context)
  , bound_(context.bind(*this))
  , self_(bound_.pointer().with(deadline(kRoomForJobs))) {}

Mailbox::~Mailbox() { bound_.reset(); }

void Mailbox::install() {
    context_.on(kArrive, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call, std::uint32_t slot,
                            std::uint32_t digest, Rank sender, Bytes bytes) {
        mailbox.arrive(id, {call, slot & ~kLastPiece, (slot & kLastPiece) != 0, digest, sender}, bytes);
    });
    context_.on(kAsk, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call) -> std::string {
        const auto self = mailbox.weak_from_this().lock(); // null: it is just ending
        const auto group = self != nullptr ? self->find(id) : nullptr;
        return group != nullptr ? group->calls().text_of(call) : kGoneCall;
    });
    context_.on(kConfirm, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call, std::uint32_t digest,
                             Rank member, std::uint32_t below) {
        const auto self = mailbox.weak_from_this().lock(); // null: it is just ending
        const auto group = self != nullptr ? self->find(id) : nullptr;
        if (group != nullptr) group->multicast().hear_confirmed(call, digest, member, below);
    });
    context_.on(kRepair, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call, std::uint32_t digest,
                            std::span<const std::uint32_t> ranges) {
        const auto self = mailbox.weak_from_this().lock(); // null: it is just ending
        const auto group = self != nullptr ? self->find(id) : nullptr;
        return group != nullptr ? group->multicast().repair(call, digest, ranges) : std::vector<std::byte>();
    });
    context_.on(kRoster, [](Mailbox& mailbox, std::uint64_t id) { return mailbox.take_roster(id); });
    context_.on(kAlive, [](Mailbox& mailbox, std::uint64_t id, std::uint32_t call, std::uint32_t digest) {
        const auto self = mailbox.weak_from_this().lock(); // null: it is just ending
        bool left = true;
        const auto group = self != nullptr ? self->find(id, &left) : nullptr;
        const Presence found = group != nullptr ? group->calls().presence(call, digest)
                               : left           ? Presence::left
                                                : Presence::here;
        return static_cast<std::uint8_t>(found);
    });
    context_.on(kBroken, [](Mailbox& mailbox, std::uint64_t id, std::int32_t status, const std::string& why) {
        const auto self = mailbox.weak_from_this().lock(); // null: it is just ending
        if (self != nullptr) self->take_broken(id, static_cast<Status>(status), why);
        return true;
    });
    context_.on(kRunJobs, [](Mailbox& mailbox) {
        const auto self = mailbox.weak_from_this().lock();
        if (self != nullptr) self->run_jobs();
    });
}

void Mailbox::arrive(std::uint64_t id, const MessageHeader& head, Bytes bytes) {
    const auto self = weak_from_this().lock(); // the last of its groups may end in here
    if (self == nullptr) return;
    std::shared_ptr<GroupState> group;
    {
        const Lock hold(mutex_);
        const auto found = groups_.find(id);
        if (found == groups_.end()) return keep_pending(id, head, bytes);
        group = found->second.lock(); // null: it is just ending
    }
    if (group != nullptr) group->arrive(head, bytes);
}

void Mailbox::keep_pending(std::uint64_t id, const MessageHeader& head, Bytes bytes) {
    const auto found = pending_.find(id);
    if (has_left(id) || (found != pending_.end() && found->second.status != Status::ok)) return;
    if (pending_bytes_ + early_size(bytes.size()) > kMostPendingBytes)
        return break_pending(
            id, Status::too_large,
            fmt::format("members sent more than {} bytes to this one before it had joined the group: let all "
                        "meet at a barrier before large transfers",
                        kMostPendingBytes));
    pending_[id].messages.emplace_back(head, bytes);
    pending_bytes_ += early_size(bytes.size());
}

void Mailbox::break_pending(std::uint64_t id, Status status, std::string why) {
    if (pending_.size() >= kRemembered && pending_.count(id) == 0) return;
    Pending& group = pending_[id];
    if (group.status != Status::ok) return;
    for (const EarlyMessage& each : group.messages) pending_bytes_ -= early_size(each.size);
    group = {{}, status, std::move(why)};
}

void Mailbox::take_broken(std::uint64_t id, Status status, const std::string& why) {
    std::shared_ptr<GroupState> group;
    {
        const Lock hold(mutex_);
        if (const auto found = groups_.find(id); found != groups_.end()) {
            group = found->second.lock();
        } else if (!has_left(id)) {
            break_pending(id, status, why);
        }
    }
    if (group != nullptr) group->break_up(status, why, false);
}

std::shared_ptr<GroupState> Mailbox::find(std::uint64_t id, bool* left) {
    const Lock hold(mutex_);
    if (left != nullptr) *left = has_left(id);
    const auto found = groups_.find(id);
    return found == groups_.end() ? nullptr : found->second.lock();
}

bool Mailbox::has_left(std::uint64_t id) const {
    return std::find(left_.begin(), left_.end(), id) != left_.end();
}

void Mailbox::keep_roster(std::uint64_t id, std::vector<GlobalPointer<Mailbox>> members, Rank askers) {
    const Lock hold(mutex_);
    rosters_.insert_or_assign(id, Roster{std::move(members), askers});
}

std::vector<GlobalPointer<Mailbox>> Mailbox::take_roster(std::uint64_t id) {
    const Lock hold(mutex_);
    const auto found = rosters_.find(id);
    if (found == rosters_.end()) return {};
    if (--found->second.askers > 0) return found->second.members;
    auto last = std::move(found->second.members);
    rosters_.erase(found);
    return last;
}

void Mailbox::enter(std::uint64_t id, const std::shared_ptr<GroupState>& group) {
    for (;;) {
        Pending before;
        {
            const Lock hold(mutex_);
            const auto found = pending_.find(id);
            if (found == pending_.end()) { // what comes from now on goes to the group, behind what it has
                groups_[id] = group;
                return;
            }
            before = std::move(found->second);
            pending_.erase(found);
            for (const EarlyMessage& each : before.messages) pending_bytes_ -= early_size(each.size);
        }
        group->calls().take_early(std::move(before.messages));
        if (before.status != Status::ok) group->break_up(before.status, before.why, false);
    }
}

void Mailbox::leave(std::uint64_t id) {
    const Lock hold(mutex_);
    groups_.erase(id);
    rosters_.erase(id);
    if (const auto found = pending_.find(id); found != pending_.end()) {
        for (const EarlyMessage& each : found->second.messages) pending_bytes_ -= early_size(each.size);
        pending_.erase(found);
    }
    left_.push_front(id);
    if (left_.size() > kRemembered) left_.pop_back();
}

void Mailbox::post(Job job) {
    {
        const Lock hold(mutex_);
        jobs_.push_back(std::move(job));
    }
    // A call, because somebody has to know if it is not handed over in time.
    self_.call(kRunJobs).then([self = weak_from_this()](Future<void> ran) {
        const auto mailbox = self.lock();
        if (mailbox == nullptr) return;
        try {
            ran.get();
        } catch (const Error& error) {
            switch (error.status()) {
            case Status::dead_pointer: // it has just ended
                return;
            case Status::again:
            case Status::timed_out:
            case Status::deadline_exceeded:
            case Status::message_lost: // this context is busy, or has no link to itself yet
                return mailbox->post_again();
            default: // the context is closing, or has no way to itself
                return mailbox->run_jobs();
            }
        }
    });
}

void Mailbox::post_again() {
    try {
        monitor().after(kPostAgain, [] {}); // which is posted, and with it all that waits
    } catch (const std::system_error&) { run_jobs(); }
}

void Mailbox::run_in_handler(Job job) {
    if (runs_jobs || context_.inside_handler()) return job();
    const auto done = std::make_shared<std::atomic<bool>>(false);
    post([job = std::move(job), done] {
        job();
        done->store(true, std::memory_order_release); // [ran]
    });
    const auto end = Clock::now() + kWaitForJob;
    while (!done->load(std::memory_order_acquire) && Clock::now() < end) // pairs with [ran]
        if (context_.progress() == 0) std::this_thread::yield();
}

void Mailbox::run_jobs() {
    std::vector<Job> due;
    {
        const Lock hold(mutex_);
        due.swap(jobs_);
    }
    const bool nested = std::exchange(runs_jobs, true);
    for (Job& each : due) std::exchange(each, nullptr)(); // what it keeps may end here
    runs_jobs = nested;
}

void Mailbox::tell_broken(const GlobalPointer<Mailbox>& member, std::uint64_t id, Status status,
                          const std::string& why) {
    member.with(no_deadline)
        .call(kBroken, id, static_cast<std::int32_t>(status), why)
        .then([self = weak_from_this(), member, id, status, why](auto answer) {
            const auto mailbox = self.lock();
            try {
                answer.get();
            } catch (const Error& error) { // that a member has left already, or is lost, is no news
                if (error.status() != Status::again || mailbox == nullptr) return;
                try {
                    mailbox->monitor().after(kTellAgain, [self, member, id, status, why] {
                        if (const auto still = self.lock()) still->tell_broken(member, id, status, why);
                    });
                } catch (const std::system_error&) {} // without a thread members hear of it when they ask
            }
        });
}

std::vector<std::shared_ptr<GroupState>> Mailbox::open_groups() const {
    std::vector<std::shared_ptr<GroupState>> open;
    const Lock hold(mutex_);
    open.reserve(groups_.size()); // nothing may be thrown while the last reference to one is held here
    for (const auto& [id, group] : groups_)
        if (auto held = group.lock()) open.push_back(std::move(held));
    return open;
}

void Mailbox::show(const ShowGroup& show) const {
    auto groups = open_groups();
    // Rows keep their order from read to read, and if there are too many the same are shown.
    std::sort(groups.begin(), groups.end(),
              [](const auto& one, const auto& other) { return one->members().id() < other->members().id(); });
    for (const auto& group : groups)
        if (!group->members().is_part()) show(group->shown());
}

void Mailbox::close() {
    if (const auto monitor = any_monitor()) monitor->stop();
    const std::vector<std::shared_ptr<GroupState>> open = open_groups();
    // All of them before any continuation runs, which may want to wait for another group.
    std::vector<std::function<void()>> ends;
    for (const auto& group : open)
        ends.push_back(
            group->break_now(Status::closed, "the context of this member was closed during the call"));
    for (const auto& end_calls : ends)
        if (end_calls != nullptr) end_calls();
}

std::shared_ptr<Monitor> Mailbox::any_monitor() const {
    const Lock hold(mutex_);
    return monitor_;
}

Monitor& Mailbox::monitor() {
    const Lock hold(mutex_);
    if (monitor_ == nullptr)
        monitor_ = std::make_shared<Monitor>([self = weak_from_this()](Job job) {
            if (const auto mailbox = self.lock()) mailbox->post(std::move(job));
        });
    return *monitor_;
}

} // namespace plexus::eco::detail
