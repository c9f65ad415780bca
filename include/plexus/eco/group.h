// SPDX-License-Identifier: BSD-3-Clause
// Groups: contexts that do things together (the ECO paper's collective operations; MPI's
// communicators). A Group is a handle; copies mean the same group. Members are named by their
// ranks in it. Messages of different groups, and of successive calls, never mix.
#pragma once

#include "plexus/context.h"
#include "plexus/eco/collectives.h"
#include "plexus/eco/how.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

namespace exec {
class Team;
class Standing;
} // namespace exec

namespace detail {

/// A value as a request carries it.
template <class T>
std::vector<std::byte> to_bytes(const T& value) {
    plexus::detail::Writer out(0);
    out.put(value);
    return out.bytes();
}
/// @error bad_archive these bytes hold no such value (thrown)
template <class T>
T from_bytes(const std::vector<std::byte>& bytes) {
    plexus::detail::Reader in(nullptr, bytes.data(), bytes.size(), 0);
    T value = in.get<T>();
    if (!in.ok()) throw Error(Status::bad_archive, "a member sent something else than a value of this type");
    return value;
}
template <class T>
std::vector<T> values_of(const std::vector<std::vector<std::byte>>& all) {
    std::vector<T> values;
    for (const auto& bytes : all) values.push_back(from_bytes<T>(bytes));
    return values;
}

} // namespace detail

class Ring;

/// A call that was prepared once: planned, checked, and tied to its memory. Movable.
class PLEXUS_API Prepared {
  public:
    explicit Prepared(std::unique_ptr<exec::Standing> call) noexcept;
    Prepared(Prepared&&) noexcept;
    Prepared& operator=(Prepared&&) noexcept;
    ~Prepared();

    /// One more run. All members start theirs as often. @error as Collectives; busy: the last
    /// run has not ended (thrown)
    Future<void> start();
    /// One more run, to its end. Members that run() it do so together: where they share memory, be it
    /// on each of several hosts, it goes through that, and start() by messages.
    /// @error as start(); would_deadlock (thrown)
    void run();

  private:
    std::unique_ptr<exec::Standing> call_;
};

/// The operations with a future for each: several may be under way at once. They go on
/// whenever any thread makes progress. Destroying a future does not end its call.
class PLEXUS_API AsyncGroup : public Collectives<AsyncGroup> {
  public:
    AsyncGroup(std::shared_ptr<exec::Team> team, How how) noexcept
      : team_(std::move(team))
      , how_(how) {}
    Future<void> begin(const detail::Work& work) const;

  private:
    std::shared_ptr<exec::Team> team_;
    How how_;
};

/// The operations prepared, to be started any number of times.
class PLEXUS_API PreparingGroup : public Collectives<PreparingGroup> {
  public:
    PreparingGroup(std::shared_ptr<exec::Team> team, How how) noexcept
      : team_(std::move(team))
      , how_(how) {}
    Prepared begin(const detail::Work& work) const;

  private:
    std::shared_ptr<exec::Team> team_;
    How how_;
};

class PLEXUS_API Group : public Collectives<Group> {
  public:
    /// No group: where split() left this member out.
    Group() noexcept = default;

    /// All contexts of the job, by their ranks. Every one of them calls it, as often as the
    /// others; each time it is another group. `here` must outlive it, and not be moved meanwhile.
    /// @error timed_out not_found a member has not come within progress.lookup_timeout (thrown)
    /// @error not_found the map lacks a member's host (thrown by all; names it)
    static Group world(Context& here, const GroupOptions& options = {});
    /// Some of the job, in this order. Those who are in the list call it; this context must be.
    static Group of(Context& here, std::span<const Rank> world_ranks, const GroupOptions& options = {});
    /// Contexts that find each other by a name in the directory that they share, where there is
    /// no job or a process has several: each says its rank among `size`.
    static Group meet(Context& here, std::string_view name, Rank rank, Rank size,
                      const GroupOptions& options = {});

    /// False for no group.
    explicit operator bool() const noexcept { return team_ != nullptr; }
    Rank rank() const noexcept;
    Rank size() const noexcept;
    /// The context of a member. @error bad_argument no such rank (thrown)
    const ContextId& context_of(Rank member) const;
    /// The rank that a member of this group has in another; nothing: it is not in it.
    std::optional<Rank> rank_in(const Group& other, Rank member) const;
    /// The host of a member as it was said in its options.
    const std::string& host_of(Rank member) const;

    /// Every member calls it. Those of one colour become a group, by rising key, then rank;
    /// kNoColour: none.
    Group split(std::int64_t colour, std::int64_t key = 0) const;
    static constexpr std::int64_t kNoColour = INT64_MIN;
    /// The same members as another group.
    Group dup() const;

    /// The same group, with another pattern for the calls by this handle.
    Group by(How how) const;
    /// The same operations, with futures; or prepared.
    AsyncGroup async() const { return {team_, how_}; }
    PreparingGroup prepare() const { return {team_, how_}; }

    // Beside the operations on spans: one value of plain type, or any that cereal can archive.

    using Collectives<Group>::broadcast;
    template <class T>
    void broadcast(T& value, Rank root = 0) const {
        if constexpr (Plain<T>) {
            broadcast(std::span(&value, 1), root);
        } else {
            std::vector<std::byte> bytes;
            if (rank() == root) bytes = detail::to_bytes(value);
            std::uint64_t size = bytes.size();
            broadcast(std::span(&size, 1), root);
            bytes.resize(size);
            broadcast(std::span(bytes), root);
            if (rank() != root) value = detail::from_bytes<T>(bytes);
        }
    }
    /// By rank; on other members than the root: nothing.
    using Collectives<Group>::gather;
    template <class T>
    std::vector<T> gather(const T& value, Rank root = 0) const {
        return detail::values_of<T>(gather_bytes(detail::to_bytes(value), root));
    }
    using Collectives<Group>::all_gather;
    template <class T>
    std::vector<T> all_gather(const T& value) const {
        return detail::values_of<T>(all_gather_bytes(detail::to_bytes(value)));
    }
    /// The root's value of this member's rank. @error bad_argument the root has not one for each (thrown)
    using Collectives<Group>::scatter;
    template <class T>
    T scatter(const std::vector<T>& values, Rank root = 0) const {
        std::vector<std::vector<std::byte>> all;
        if (rank() == root)
            for (const T& each : values) all.push_back(detail::to_bytes(each));
        return detail::from_bytes<T>(scatter_bytes(all, root));
    }
    using Collectives<Group>::all_reduce;
    template <Plain T, class Op>
    T all_reduce(const T& value, Op op) const {
        T out = value;
        all_reduce(std::span(&out, 1), std::move(op));
        return out;
    }

    /// The members in a ring that crosses few and cheap edges; every member calls it. Include
    /// plexus/eco/grid.h, where meshes and tori are as well.
    Ring ring() const;
    /// What a small message between two members costs by the map, in microseconds; without a map
    /// 1 on one host and 100 else.
    double cost_us(Rank a, Rank b) const;

    /// The plan that such a call follows here where it goes by messages: to be drawn or timed.
    /// @error as the call (thrown)
    Plan plan_of(const Task& task) const;

    void begin(const detail::Work& work) const;
    const std::shared_ptr<exec::Team>& team() const noexcept { return team_; }
    explicit Group(std::shared_ptr<exec::Team> team) noexcept;

  private:
    using Bytes = std::vector<std::byte>;
    std::vector<Bytes> gather_bytes(const Bytes& mine, Rank root) const;
    std::vector<Bytes> all_gather_bytes(const Bytes& mine) const;
    Bytes scatter_bytes(const std::vector<Bytes>& all, Rank root) const;

    std::shared_ptr<exec::Team> team_;
    How how_;
};

} // namespace plexus::eco
