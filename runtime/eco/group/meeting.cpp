// SPDX-License-Identifier: BSD-3-Clause
#include "group/meeting.h"

#include "group/multicast_path.h"
#include "group/own_socket.h"
#include "plexus/eco/group.h"
#include "topology/refuse.h"

#include <unistd.h>
#include <utility>

namespace plexus::eco::detail {
namespace {

using plexus::detail::mix;

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
    return name;
}

/// The lines of a member's text: host, socket, offer. A host's name may have line breaks.
MemberFacts parse_facts(std::string_view text) {
    const auto take_last_line = [&] {
        const std::size_t end = text.rfind('\n');
        const std::string_view line = end == text.npos ? std::string_view() : text.substr(end + 1);
        text = text.substr(0, end);
        return line;
    };
    MemberFacts out;
    out.multicast = parse_offer(take_last_line());
    out.socket = take_last_line();
    out.host = text;
    return out;
}

/// Everyone's text, by rank.
std::vector<std::string> gather_texts(const Group& group, const std::string& mine) {
    std::vector<std::uint64_t> lengths(group.size());
    const std::uint64_t length = mine.size();
    group.all_gather(std::span(&length, 1), std::span(lengths));
    std::uint64_t total = 0;
    for (const std::uint64_t each : lengths) total += each;
    std::string all(total, '\0');
    group.all_gather_v(std::span(mine.data(), mine.size()), std::span(all.data(), all.size()),
                       Layout{lengths, {}});
    std::vector<std::string> texts;
    std::size_t at = 0;
    for (const std::uint64_t each : lengths) {
        texts.push_back(all.substr(at, each));
        at += each;
    }
    return texts;
}

/// Member 0 looks up all others, who then ask it: a directory is asked twice for each member, and
/// not once for each pair.
std::vector<GlobalPointer<Mailbox>> find_all(Context& here, Mailbox& mailbox, std::uint64_t id,
                                             const std::string& name, Rank me, Rank size) {
    if (size == 1) return {mailbox.pointer()};
    const auto place = [&](Rank rank) { return fmt::format("{}/{}", name, rank); };
    if (me > 0) {
        here.publish(place(me), mailbox.pointer());
        auto all = here.lookup<Mailbox>(place(0)).get().call(kRoster, id).get();
        if (all.size() != size)
            refuse(Status::not_found, "member 0 of \"{}\" has not the {} members that member {} expects",
                   name, size, me);
        return all;
    }
    std::vector<Future<GlobalPointer<Mailbox>>> found;
    for (Rank rank = 1; rank < size; ++rank) found.push_back(here.lookup<Mailbox>(place(rank)));
    std::vector<GlobalPointer<Mailbox>> all{mailbox.pointer()};
    for (auto& each : found) all.push_back(each.get());
    mailbox.keep_roster(id, all, size - 1);
    here.publish(place(0), mailbox.pointer()); // all have come
    return all;
}

} // namespace

std::shared_ptr<GroupState> meet(Context& here, std::string_view name, Rank me, Rank size,
                                 const GroupOptions& options) {
    if (me >= size) refuse(Status::bad_argument, "there is no rank {} in a group of {}", me, size);
    GroupOptions own = options;
    if (own.map == nullptr && !own.map_file.empty())
        own.map = std::make_shared<const Map>(load_map(own.map_file));
    if (own.host.empty()) own.host = host_name();
    if (own.socket.empty()) own.socket = own_socket();
    if (own.socket.size() > 255 || own.socket.find('\n') != own.socket.npos)
        refuse(Status::bad_argument, "GroupOptions::socket is a name of at most 255 bytes in one line");
    const std::string offer = offer_text(here);
    const auto mailbox = Mailbox::of(here);
    const std::uint64_t times = count_meeting(here, name);
    const std::uint64_t id = mix(mix(mix(0xcbf29ce484222325ull, name), times), size);
    std::shared_ptr<GroupState> group;
    try {
        const std::string place = fmt::format("plexus.eco/{}/{}", name, times);
        std::vector<Member> members;
        for (auto& pointer : find_all(here, *mailbox, id, place, me, size))
            members.push_back({std::move(pointer), {}});
        group = GroupState::make(mailbox, id, me, std::move(members), own);
    } catch (...) {
        mailbox->leave(id); // others may have found this member already
        throw;
    }
    std::vector<MemberFacts> facts;
    for (const std::string& each : gather_texts(Group(group).with(Algorithm()).with(no_deadline),
                                                own.host + '\n' + own.socket + '\n' + offer))
        facts.push_back(parse_facts(each));
    group->learn_facts(std::move(facts));
    group->memory().make();
    group->make_hierarchy();
    group->multicast().make();
    return group;
}

std::shared_ptr<GroupState> branch(GroupState& from, const std::vector<Rank>& ranks, std::uint64_t salt,
                                   bool is_part, std::shared_ptr<const Map> map) {
    std::vector<Member> members;
    std::vector<MemberFacts> facts;
    Rank me = 0;
    for (const Rank rank : ranks) {
        if (rank == from.me()) me = static_cast<Rank>(members.size());
        members.push_back(from.members()[rank]);
        facts.push_back(members.back().facts);
    }
    GroupOptions options = from.options();
    if (map != nullptr) options.map = std::move(map);
    auto group = GroupState::make(from.members().mailbox(), mix(from.members().id(), salt), me,
                                  std::move(members), std::move(options),
                                  is_part ? ParentGroup{from.weak_from_this(), ranks} : ParentGroup());
    group->learn_facts(std::move(facts));
    group->memory().make();
    group->make_hierarchy();
    if (!is_part) group->multicast().make(); // a part executes calls of the whole group, by its choice
    return group;
}

} // namespace plexus::eco::detail
