// SPDX-License-Identifier: BSD-3-Clause
#include "elastic.h"

#include <plexus/eco/group.h>

#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace elastic {
namespace {

namespace eco = plexus::eco;

/// What rank 0 says to each one who is there.
struct Call {
    std::string group;
    std::uint32_t rank = 0;
    std::uint32_t size = 0;
};

struct Member {
    std::mutex mutex;
    std::deque<Call> calls;
};

/// Who is there, in rank 0.
struct Roll {
    std::mutex mutex;
    std::map<std::string, plexus::GlobalPointer<Member>> there;

    std::size_t size() {
        const std::lock_guard hold(mutex);
        return there.size();
    }
};

inline constexpr plexus::Request<void(Roll&, std::string, plexus::GlobalPointer<Member>)> enter{
    "elastic.enter"};
inline constexpr plexus::Request<void(Roll&, std::string)> leave{"elastic.leave"};
inline constexpr plexus::Request<void(Member&, std::string, std::uint32_t, std::uint32_t)> form{
    "elastic.form"};

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

/// Waits until so many are there, and calls them to a group.
void call_to_group(plexus::Context& here, Roll& roll, std::uint32_t size) {
    here.run_until([&] { return roll.size() == size; });
    std::map<std::string, plexus::GlobalPointer<Member>> there;
    {
        const std::lock_guard hold(roll.mutex);
        there = roll.there;
    }
    std::uint32_t rank = 0;
    for (const auto& [name, member] : there)
        member.send(form, "group of " + std::to_string(size), rank++, size);
}

Call next_call(plexus::Context& here, Member& member) {
    std::optional<Call> call;
    here.run_until([&] {
        const std::lock_guard hold(member.mutex);
        if (member.calls.empty()) return false;
        call = std::move(member.calls.front());
        member.calls.pop_front();
        return true;
    });
    return *call;
}

/// Takes part in `groups` groups; before each of them `first` runs.
void take_part(plexus::Context& here, const std::string& name, int groups,
               const std::function<void(int)>& first) {
    Member mine;
    here.on(form, [](Member& member, const std::string& group, std::uint32_t rank, std::uint32_t size) {
        const std::lock_guard hold(member.mutex);
        member.calls.push_back({group, rank, size});
    });
    const auto bound = here.bind(mine);
    const auto roll = here.lookup<Roll>("elastic.roll").get();
    roll.call(enter, name, bound.pointer()).get();
    for (int i = 0; i < groups; ++i) {
        first(i);
        const Call call = next_call(here, mine);
        const eco::Group group = eco::Group::meet(here, call.group, call.rank, call.size);
        const std::uint32_t sum = group.all_reduce(group.rank() + 1, std::plus<>{});
        if (group.rank() == 0) say(call.group + ": the ranks from 1 on add up to " + std::to_string(sum));
    }
    roll.call(leave, name).get();
}

} // namespace

int run_member(plexus::Context& here) {
    Roll roll;
    const std::string name = "0 of the job, rank " + std::to_string(here.rank());
    if (here.rank() != 0) {
        take_part(here, name, 3, [](int) {});
        return 0;
    }
    here.on(enter, [](Roll& to, const std::string& who, const plexus::GlobalPointer<Member>& member) {
        const std::lock_guard hold(to.mutex);
        to.there.emplace(who, member);
    });
    here.on(leave, [](Roll& from, const std::string& who) {
        const std::lock_guard hold(from.mutex);
        from.there.erase(who);
    });
    const auto bound = here.bind(roll);
    here.publish("elastic.roll", bound.pointer());
    take_part(here, name, 3, [&](int group) {
        constexpr std::uint32_t kSizes[] = {2, 8, 3};
        if (group == 1) say("join at " + here.url() + " while it runs");
        call_to_group(here, roll, kSizes[group]);
    });
    here.run_until([&] { return roll.size() == 0; });
    return 0;
}

int run_guest(const std::string& url, const std::string& key_file, const std::string& name, int groups) {
    plexus::Options options;
    options.set = {{"job.key_file", key_file}, {"launcher", "none"}};
    plexus::Context here = plexus::Context::attach(url, std::move(options));
    take_part(here, "1 guest " + name, groups, [](int) {});
    return 0;
}

} // namespace elastic
