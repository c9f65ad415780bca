// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/registry.h"

#include "base/log.h"

#include <algorithm>
#include <asio/post.hpp>

namespace plexus::bootstrap {
namespace {

std::size_t cost(std::string_view name, std::size_t value_bytes) {
    return Registry::kNameOverhead + name.size() + value_bytes;
}

double seconds(Clock::duration length) { return std::chrono::duration<double>(length).count(); }

Failure closed() { return {Status::closed, "the directory is closing"}; }

Failure not_published(std::string_view name, Clock::duration waited) {
    return fail(Status::not_found, "nobody published \"{}\" within {:.3g} s", name, seconds(waited));
}

void run(const std::vector<std::function<void()>>& due) {
    for (const auto& call : due) call();
}

} // namespace

Registry::Registry(const std::shared_ptr<asio::io_context>& io, std::uint32_t members)
  : io_(io)
  , members_(members)
  , timer_(std::make_unique<asio::steady_timer>(*io)) {}

Registry::User Registry::enter() {
    Lock hold(mutex_);
    users_[++last_user_].next_fence = fence_;
    return last_user_;
}

void Registry::leave(User user) {
    Due due;
    {
        Lock hold(mutex_);
        const auto who = users_.find(user);
        if (who == users_.end()) return;
        std::erase_if(names_, [&](const auto& entry) { return entry.second.user == user; });
        drop_waits(user, due);
        const auto mine = std::find_if(arrived_.begin(), arrived_.end(),
                                       [&](const Arrival& arrival) { return arrival.user == user; });
        const bool counted_on = who->second.has_met || mine != arrived_.end();
        if (mine != arrived_.end()) {
            due.push_back([done = std::move(mine->done)] { done(closed()); });
            arrived_.erase(mine);
        }
        users_.erase(who);
        if (counted_on && !arrived_.empty())
            end_fence(fail(Status::peer_lost,
                           "a member of the job left while {} of {} waited for all to arrive",
                           arrived_.size(), members_),
                      due);
    }
    run(due);
}

Result<void> Registry::publish(User user, std::string_view name, std::span<const std::byte> value) {
    if (auto checked = check_entry(name, value); !checked) return checked;
    Due due;
    {
        Lock hold(mutex_);
        const auto who = users_.find(user);
        if (closed_ || who == users_.end()) return closed();
        const auto there = names_.find(name);
        if (there != names_.end() && there->second.user != user)
            return fail(Status::busy,
                        "\"{}\" is published by another context: unpublish it there or take another name",
                        name);
        const std::size_t before = there == names_.end() ? 0 : cost(name, there->second.value->size());
        const std::size_t bytes = who->second.bytes - before + cost(name, value.size());
        if (bytes > kBytesPerUser)
            return fail(
                Status::too_large,
                "\"{}\" cannot be published: all names and values of a context together may take {} MiB",
                name, kBytesPerUser / (1024 * 1024));
        who->second.bytes = bytes;
        const auto payload = std::make_shared<const Bytes>(value.begin(), value.end());
        auto [first, last] = waiters_.equal_range(name);
        for (auto waiter = first; waiter != last; ++waiter) {
            due.push_back([found = std::move(waiter->second.found), payload] { found(payload); });
            --users_[waiter->second.user].waiters;
        }
        waiters_.erase(first, last);
        names_.insert_or_assign(std::string(name), Entry{user, payload});
    }
    run(due);
    return {};
}

void Registry::unpublish(User user, std::string_view name) {
    Lock hold(mutex_);
    const auto there = names_.find(name);
    if (there == names_.end() || there->second.user != user) return;
    users_[user].bytes -= cost(name, there->second.value->size());
    names_.erase(there);
}

void Registry::lookup(User user, std::string_view name, Clock::time_point deadline, Found found) {
    const auto now = Clock::now();
    Result<Payload> answer = closed();
    bool sooner = false;
    {
        Lock hold(mutex_);
        const auto who = users_.find(user);
        const auto there = names_.find(name);
        if (closed_ || who == users_.end()) {
            // as it stands
        } else if (there != names_.end()) {
            answer = there->second.value;
        } else if (deadline <= now) {
            answer = fail(Status::not_found, "nobody has published \"{}\"", name);
        } else if (who->second.waiters == kWaitersPerUser) {
            answer =
                fail(Status::busy, "\"{}\" cannot be waited for: this context waits for {} names already",
                     name, kWaitersPerUser);
        } else {
            ++who->second.waiters;
            waiters_.emplace(name, Waiter{user, now, deadline, std::move(found)});
            found = nullptr;
            sooner = is_sooner(deadline);
        }
    }
    if (found) found(std::move(answer));
    if (sooner) wake_timer();
}

void Registry::fence(User user, Clock::time_point deadline, Done done) {
    Due due;
    bool sooner = false;
    {
        Lock hold(mutex_);
        const auto who = users_.find(user);
        const bool inside = std::any_of(arrived_.begin(), arrived_.end(),
                                        [&](const Arrival& arrival) { return arrival.user == user; });
        if (closed_ || who == users_.end()) {
            due.push_back([&done] { done(closed()); });
        } else if (inside) {
            due.push_back([&done] { done(Failure{Status::busy, "this context waits in a fence already"}); });
        } else if (who->second.next_fence < fence_) {
            // The fence that this user was going to take part in has failed before the user arrived.
            who->second.next_fence = fence_;
            due.push_back([&done] {
                done(Failure{Status::peer_lost, "a member of the job left before all had arrived"});
            });
        } else {
            arrived_.push_back({user, Clock::now(), deadline, std::move(done)});
            if (arrived_.size() < members_) {
                sooner = is_sooner(deadline);
            } else {
                end_fence({}, due);
            }
        }
    }
    run(due);
    if (sooner) wake_timer();
}

void Registry::end_fence(const Result<void>& outcome, Due& due) {
    ++fence_;
    for (Arrival& arrival : arrived_) {
        Holdings& who = users_[arrival.user];
        who.next_fence = fence_;
        who.has_met = static_cast<bool>(outcome);
        due.push_back([done = std::move(arrival.done), outcome] { done(outcome); });
    }
    arrived_.clear();
    if (outcome) // users that are not members of the job have missed no fence
        for (auto& [user, who] : users_) who.next_fence = fence_;
}

void Registry::close() {
    Due due;
    {
        Lock hold(mutex_);
        if (closed_) return;
        closed_ = true;
        for (auto& [name, waiter] : waiters_)
            due.push_back([found = std::move(waiter.found)] { found(closed()); });
        for (Arrival& arrival : arrived_) due.push_back([done = std::move(arrival.done)] { done(closed()); });
        waiters_.clear();
        arrived_.clear();
        names_.clear();
        users_.clear();
    }
    run(due);
    if (const auto io = io_.lock()) asio::post(*io, [self = shared_from_this()] { self->timer_.reset(); });
}

void Registry::drop_waits(User user, Due& due) {
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
        if (waiter->second.user != user) {
            ++waiter;
            continue;
        }
        due.push_back([found = std::move(waiter->second.found)] { found(closed()); });
        waiter = waiters_.erase(waiter);
    }
}

// Only a deadline earlier than all others wakes the timer, which then checks everything that waits.
bool Registry::is_sooner(Clock::time_point deadline) {
    if (deadline >= next_deadline_) return false;
    next_deadline_ = deadline;
    return true;
}

void Registry::wake_timer() {
    const auto io = io_.lock();
    if (io)
        asio::post(*io, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->on_timer();
        });
}

void Registry::on_timer() {
    Due due;
    Clock::time_point next;
    {
        Lock hold(mutex_);
        next = next_deadline_ = expire(due);
    }
    run(due);
    if (!timer_ || next == Clock::time_point::max()) return;
    timer_->expires_at(next); // ends the wait before, if there is one
    timer_->async_wait([weak = weak_from_this()](const std::error_code& error) {
        const auto self = weak.lock();
        if (self && !error) self->on_timer();
    });
}

Clock::time_point Registry::expire(Due& due) {
    const auto now = Clock::now();
    auto next = Clock::time_point::max();
    for (auto at = waiters_.begin(); at != waiters_.end();) {
        Waiter& waiter = at->second;
        if (waiter.deadline > now) {
            next = std::min(next, waiter.deadline);
            ++at;
            continue;
        }
        due.push_back([found = std::move(waiter.found), why = not_published(at->first, now - waiter.asked)] {
            found(why);
        });
        --users_[waiter.user].waiters;
        at = waiters_.erase(at);
    }
    const std::size_t there = arrived_.size();
    std::erase_if(arrived_, [&](Arrival& arrival) {
        if (arrival.deadline > now) {
            next = std::min(next, arrival.deadline);
            return false;
        }
        due.push_back(
            [done = std::move(arrival.done),
             why = fail(Status::timed_out, "only {} of {} members of the job arrived within {:.3g} s", there,
                        members_, seconds(now - arrival.asked))] { done(why); });
        return true;
    });
    return next;
}

} // namespace plexus::bootstrap
