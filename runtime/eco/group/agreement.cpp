// SPDX-License-Identifier: BSD-3-Clause
#include "group/agreement.h"

#include "topology/refuse.h"

#include <bit>
#include <fmt/format.h>

namespace plexus::eco::detail {
namespace {

/// Of one schedule: half a gigabyte.
constexpr std::uint64_t kMostWords = std::uint64_t{1} << 27;

class WordReader {
  public:
    explicit WordReader(std::span<const std::uint32_t> words)
      : words_(words) {}

    std::uint32_t next() {
        if (words_.empty()) refuse(Status::bad_archive, "a member sent a schedule that ends too early");
        const std::uint32_t word = words_.front();
        words_ = words_.subspan(1);
        return word;
    }
    /// How many items follow, of at least `words_of_each` words each, so no more room is made than was sent.
    std::uint32_t count(std::uint32_t words_of_each) {
        const std::uint32_t count = next();
        if (count > words_.size() / words_of_each)
            refuse(Status::bad_archive, "a member sent a schedule that ends too early");
        return count;
    }
    double number() {
        const std::uint64_t low = next();
        return std::bit_cast<double>(low | std::uint64_t{next()} << 32);
    }
    std::vector<std::uint32_t> list() {
        const auto items = words_.first(count(1));
        words_ = words_.subspan(items.size());
        return {items.begin(), items.end()};
    }
    bool at_end() const noexcept { return words_.empty(); }

  private:
    std::span<const std::uint32_t> words_;
};

void add_list(std::vector<std::uint32_t>& out, const std::vector<std::uint32_t>& items) {
    out.push_back(static_cast<std::uint32_t>(items.size()));
    out.insert(out.end(), items.begin(), items.end());
}

void add_number(std::vector<std::uint32_t>& out, double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    out.insert(out.end(), {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
}

std::string names_of(const std::vector<Rank>& members) {
    return fmt::format("member{} {}", members.size() == 1 ? "" : "s", fmt::join(members, ", "));
}

/// The operation that the schedule itself is for: what is wrong with it shows there.
Operation operation_of(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::oab:
        return Operation::broadcast;
    case CollectiveKind::aab:
        return Operation::all_gather;
    case CollectiveKind::oas:
        return Operation::scatter;
    case CollectiveKind::aas:
        break;
    }
    return Operation::all_to_all;
}

void try_out(const GroupSchedule& how, Rank members) {
    const std::uint32_t root = how.schedule.root;
    const bool is_mapped = root < how.ranks_of_terminals.size();
    to_plan({operation_of(how.schedule.kind), members, is_mapped ? how.ranks_of_terminals[root] : root, 1, 1,
             true},
            how);
}

} // namespace

std::vector<std::uint32_t> words_of(const GroupSchedule& how) {
    const RoundSchedule& schedule = how.schedule;
    std::vector<std::uint32_t> out{static_cast<std::uint32_t>(schedule.kind), schedule.root, how.overlap,
                                   how.pace ? 1u : 0u};
    if (how.pace)
        for (const double each : {how.pace->message_s, how.pace->byte_s, how.pace->hop_s})
            add_number(out, each);
    add_list(out, how.ranks_of_terminals);
    out.push_back(static_cast<std::uint32_t>(schedule.rounds.size()));
    for (const Round& round : schedule.rounds) {
        out.push_back(static_cast<std::uint32_t>(round.size()));
        for (const Transfer& each : round) {
            out.insert(out.end(), {each.src, each.dst, each.msg});
            add_list(out, each.path);
        }
    }
    return out;
}

GroupSchedule schedule_in(std::span<const std::uint32_t> words) {
    WordReader in(words);
    GroupSchedule how;
    const std::uint32_t kind = in.next();
    if (kind >= std::size(kCollectiveKinds))
        refuse(Status::bad_archive, "a member sent a schedule of no known kind");
    how.schedule.kind = kCollectiveKinds[kind];
    how.schedule.root = in.next();
    how.overlap = in.next();
    if (in.next() != 0) {
        how.pace.emplace();
        for (double* const each : {&how.pace->message_s, &how.pace->byte_s, &how.pace->hop_s})
            *each = in.number();
    }
    how.ranks_of_terminals = in.list();
    how.schedule.rounds.resize(in.count(1));
    for (Round& round : how.schedule.rounds) {
        constexpr std::uint32_t kWordsOfTransfer = 4; // without its path
        round.resize(in.count(kWordsOfTransfer));
        for (Transfer& each : round) {
            each.src = in.next();
            each.dst = in.next();
            each.msg = in.next();
            each.path = in.list();
        }
    }
    if (!in.at_end()) refuse(Status::bad_archive, "a member sent more than a schedule");
    return how;
}

std::shared_ptr<const GroupSchedule> agree_on(const Group& all, const GroupSchedule& mine, Rank from) {
    const std::vector<std::uint32_t> own = words_of(mine);
    std::uint64_t size = own.size();
    all.broadcast(std::span(&size, 1), from);
    if (size > kMostWords)
        refuse(Status::bad_argument, "the schedule of member {} has {} words, {} are allowed", from, size,
               kMostWords);
    std::vector<std::uint32_t> sent = own;
    sent.resize(size);
    all.broadcast(std::span(sent), from);
    // Everyone hears what everyone found, so that all members end alike.
    const std::uint8_t differs = !mine.schedule.rounds.empty() && own != sent ? 1 : 0;
    std::vector<std::uint8_t> all_differ(all.size());
    all.all_gather(std::span(&differs, 1), std::span(all_differ));
    std::vector<Rank> others;
    for (Rank member = 0; member < all.size(); ++member)
        if (all_differ[member] != 0) others.push_back(member);
    if (!others.empty())
        refuse(Status::bad_argument, "{} {} another schedule than member {}", names_of(others),
               others.size() == 1 ? "has" : "have", from);
    auto how = std::make_shared<const GroupSchedule>(schedule_in(sent));
    try_out(*how, all.size());
    return how;
}

} // namespace plexus::eco::detail
