// SPDX-License-Identifier: BSD-3-Clause
#include "group/membership.h"

#include "host/collective.h"
#include "plan/grouped.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

namespace plexus::eco::detail {

void ParentGroup::rethrow(const std::exception_ptr& thrown) const {
    if (whole.expired()) std::rethrow_exception(thrown);
    throw host::OperationThrew{thrown};
}

Membership::Membership(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                       std::vector<Member> members, GroupOptions options, ParentGroup parent)
  : mailbox_(std::move(mailbox))
  , id_(id)
  , me_(me)
  , members_(std::move(members))
  , options_(std::move(options))
  , parent_(std::move(parent)) {}

std::string Membership::text_of_throw() const {
    return fmt::format("the operation threw on member {}", name(me_));
}

std::string Membership::text_of_no_memory() const {
    return fmt::format("member {} has no memory left for its call", name(me_));
}

void Membership::learn(std::vector<MemberFacts> facts) {
    const auto is_on = [&](const std::string& host) {
        return [&](const MemberFacts& each) { return each.host == host; };
    };
    one_host_ = std::all_of(facts.begin(), facts.end(), is_on(facts[0].host));
    const auto here = std::count_if(facts.begin(), facts.end(), is_on(facts[me_].host));
    const auto processors = static_cast<std::ptrdiff_t>(std::max(1u, std::thread::hardware_concurrency()));
    per_processor_ = static_cast<int>((here + processors - 1) / processors);
    for (Rank member = 0; member < size(); ++member) members_[member].facts = std::move(facts[member]);
}

std::vector<std::uint32_t> Membership::sockets() const {
    std::set<std::string_view> unknown;
    for (const Member& each : members_)
        if (each.facts.socket.empty()) unknown.insert(each.facts.host);
    std::vector<std::uint32_t> out(members_.size());
    std::uint32_t socket = 0;
    for (const Subnet& each : grouped(members_.size(), [&](std::size_t member) {
             const MemberFacts& facts = members_[member].facts;
             const bool is_known = unknown.count(facts.host) == 0;
             return std::pair(std::string_view(facts.host), is_known ? std::string_view(facts.socket) : "");
         })) {
        for (const std::size_t member : each) out[member] = socket;
        ++socket;
    }
    return out;
}

Levels Membership::levels() const {
    const std::vector<std::uint32_t> of = sockets();
    Levels out;
    out.push_back(grouped(members_.size(), [&](std::size_t member) { return of[member]; }));
    out.push_back(grouped(members_.size(),
                          [&](std::size_t member) { return std::string_view(members_[member].facts.host); }));
    out.push_back(grouped(members_.size(), [](std::size_t) { return 0; }));
    return levels_that_join(std::move(out), members_.size());
}

} // namespace plexus::eco::detail
