// SPDX-License-Identifier: BSD-3-Clause
// The public handle over teams.
#include "plexus/eco/group.h"

#include "exec/meeting.h"
#include "topology/refuse.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace plexus::eco {
namespace {

std::vector<std::vector<std::byte>> cut(const std::vector<std::byte>& all,
                                        const std::vector<std::uint64_t>& lengths) {
    std::vector<std::vector<std::byte>> parts;
    auto at = all.begin();
    for (const std::uint64_t length : lengths) {
        const auto end = at + static_cast<std::ptrdiff_t>(length);
        parts.emplace_back(at, end);
        at = end;
    }
    return parts;
}

/// Of what two ends alone know the length goes by one pattern of messages, whichever is wished.
How for_any_length(const How& how) { return how.shape() || how.follows_map() ? How::messages() : how; }

} // namespace

Group::Group(std::shared_ptr<exec::Team> team) noexcept
  : team_(std::move(team)) {
    how_ = team_->options().how;
}

Group Group::meet(Context& here, std::string_view name, Rank rank, Rank size, const GroupOptions& options) {
    return Group(exec::meet(here, name, rank, size, options));
}

Group Group::world(Context& here, const GroupOptions& options) {
    return meet(here, "world", here.rank(), here.size(), options);
}

Group Group::of(Context& here, std::span<const Rank> world_ranks, const GroupOptions& options) {
    std::uint64_t hash = plexus::detail::mix(0xcbf29ce484222325ull, "of");
    std::optional<Rank> me;
    for (std::size_t place = 0; place < world_ranks.size(); ++place) {
        const Rank rank = world_ranks[place];
        if (rank >= here.size())
            refuse(Status::bad_argument, "there is no rank {} in a job of {}", rank, here.size());
        if (std::find(world_ranks.begin(), world_ranks.begin() + static_cast<std::ptrdiff_t>(place), rank) !=
            world_ranks.begin() + static_cast<std::ptrdiff_t>(place))
            refuse(Status::bad_argument, "rank {} is in the list twice", rank);
        if (rank == here.rank()) me = static_cast<Rank>(place);
        hash = plexus::detail::mix(hash, rank);
    }
    if (!me) refuse(Status::bad_argument, "rank {} makes a group that it is not in", here.rank());
    return meet(here, fmt::format("of {:x}", hash), *me, static_cast<Rank>(world_ranks.size()), options);
}

Rank Group::rank() const noexcept { return team_->me(); }
Rank Group::size() const noexcept { return team_->size(); }

const ContextId& Group::context_of(Rank member) const {
    if (member >= size()) refuse(Status::bad_argument, "there is no member {} among {}", member, size());
    return team_->members()[member].mailbox.context();
}

const std::string& Group::host_of(Rank member) const {
    context_of(member);
    return team_->members()[member].host;
}

std::optional<Rank> Group::rank_in(const Group& other, Rank member) const {
    const ContextId& context = context_of(member);
    for (Rank each = 0; each < other.size(); ++each)
        if (other.context_of(each) == context) return each;
    return std::nullopt;
}

Group Group::split(std::int64_t colour, std::int64_t key) const {
    struct Wish {
        std::int64_t colour;
        std::int64_t key;
    };
    const Wish mine{colour, key};
    std::vector<Wish> wishes(size());
    all_gather(std::span(&mine, 1), std::span(wishes));
    const std::uint64_t child = team_->count_child();
    if (colour == kNoColour) return {};
    std::vector<Rank> ranks;
    for (Rank member = 0; member < size(); ++member)
        if (wishes[member].colour == colour) ranks.push_back(member);
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](Rank a, Rank b) { return wishes[a].key < wishes[b].key; });
    const std::uint64_t salt = plexus::detail::mix(2 * child, static_cast<std::uint64_t>(colour));
    return Group(exec::branch(*team_, ranks, salt)).by(how_);
}

Group Group::dup() const {
    std::vector<Rank> ranks(size());
    for (Rank member = 0; member < size(); ++member) ranks[member] = member;
    return Group(exec::branch(*team_, ranks, 2 * team_->count_child() + 1)).by(how_);
}

Group Group::by(How how) const {
    Group out(team_);
    out.how_ = how;
    return out;
}

// Lengths first, then the bytes: they differ from member to member.

std::vector<Group::Bytes> Group::gather_bytes(const Bytes& mine, Rank root) const {
    const std::uint64_t length = mine.size();
    std::vector<std::uint64_t> lengths(rank() == root ? size() : 0);
    gather(std::span(&length, 1), std::span(lengths), root);
    Bytes all(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    by(for_any_length(how_)).gather_v(std::span(mine), std::span(all), Parts{lengths, {}}, root);
    return cut(all, lengths);
}

std::vector<Group::Bytes> Group::all_gather_bytes(const Bytes& mine) const {
    const std::uint64_t length = mine.size();
    std::vector<std::uint64_t> lengths(size());
    all_gather(std::span(&length, 1), std::span(lengths));
    Bytes all(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    all_gather_v(std::span(mine), std::span(all), Parts{lengths, {}});
    return cut(all, lengths);
}

Group::Bytes Group::scatter_bytes(const std::vector<Bytes>& all, Rank root) const {
    if (rank() == root && all.size() != size())
        refuse(Status::bad_argument, "scatter: {} values for {} members", all.size(), size());
    std::vector<std::uint64_t> lengths;
    Bytes together;
    for (const Bytes& each : all) {
        lengths.push_back(each.size());
        together.insert(together.end(), each.begin(), each.end());
    }
    std::uint64_t length = 0;
    scatter(std::span(lengths), std::span(&length, 1), root);
    Bytes mine(length);
    by(for_any_length(how_)).scatter_v(std::span(together), Parts{lengths, {}}, std::span(mine), root);
    return mine;
}

double Group::cost_us(Rank a, Rank b) const {
    const std::optional<double> measured = team_->planner().latency_us(a, b);
    return measured ? *measured : host_of(a) == host_of(b) ? 1 : 100;
}

Plan Group::plan_of(const Task& task) const { return team_->planner().plan_of(task, how_); }

void Group::begin(const detail::Work& work) const { team_->run(team_->prepare(work, how_, true), work); }

Future<void> AsyncGroup::begin(const detail::Work& work) const {
    return team_->start(team_->prepare(work, how_, false), work);
}

namespace exec {

/// A prepared call and whether its last run has ended.
class Standing {
  public:
    Standing(std::shared_ptr<Team> team, const detail::Work& work, const How& how)
      : team_(std::move(team))
      , work_(work)
      , blocking_(team_->prepare(work, how, true)) {
        if (!how.by_memory())
            started_ = !blocking_->signature.by_messages() ? team_->prepare(work, how, false) : blocking_;
        keep(work_.send_parts, send_parts_);
        keep(work_.receive_parts, receive_parts_);
    }

    Future<void> start() {
        if (last_ != nullptr && !last_->done())
            refuse(Status::busy, "the last run of this {} has not ended", started_->signature.text());
        if (started_ == nullptr)
            refuse(Status::unsupported, "{}: only run() goes through shared memory, see How::memory()",
                   blocking_->signature.text());
        return team_->start(started_, work_, &last_);
    }
    void run() {
        if (last_ != nullptr && !last_->done())
            refuse(Status::busy, "the last run of this {} has not ended", started_->signature.text());
        team_->run(blocking_, work_);
    }

  private:
    /// They were the caller's.
    static void keep(Parts& parts, std::array<std::vector<std::uint64_t>, 2>& room) {
        room[0].assign(parts.counts.begin(), parts.counts.end());
        room[1].assign(parts.places.begin(), parts.places.end());
        parts = {room[0], room[1]};
    }

    std::shared_ptr<Team> team_;
    detail::Work work_;
    std::array<std::vector<std::uint64_t>, 2> send_parts_;
    std::array<std::vector<std::uint64_t>, 2> receive_parts_;
    std::shared_ptr<const exec::Prepared> blocking_; ///< for run()
    std::shared_ptr<const exec::Prepared> started_;  ///< for start(); null: there is no such way
    std::shared_ptr<plexus::detail::CallState> last_;
};

} // namespace exec

Prepared::Prepared(std::unique_ptr<exec::Standing> call) noexcept
  : call_(std::move(call)) {}
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;
Future<void> Prepared::start() { return call_->start(); }
void Prepared::run() { call_->run(); }

Prepared PreparingGroup::begin(const detail::Work& work) const {
    return Prepared(std::make_unique<exec::Standing>(team_, work, how_));
}

} // namespace plexus::eco
