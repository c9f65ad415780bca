// SPDX-License-Identifier: BSD-3-Clause
// Groups of contexts that call collective operations together (MPI's communicators). A Group is a
// handle: copies refer to the same group. Members are identified by their ranks in the group. Messages
// of different groups, and of successive calls, never mix.
#pragma once

#include "plexus/context.h"
#include "plexus/eco/adapt.h"
#include "plexus/eco/algorithm.h"
#include "plexus/eco/collectives.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

namespace detail {

class Adaptation;
class GroupState;

/// A value in the format of requests.
template <class T>
std::vector<std::byte> to_bytes(const T& value) {
    plexus::detail::Writer out(0);
    out.put(value);
    return out.bytes();
}
/// @error bad_archive the bytes are no value of type T (thrown)
template <class T>
T from_bytes(const std::vector<std::byte>& bytes) {
    plexus::detail::Reader in(nullptr, bytes.data(), bytes.size(), 0);
    T value = in.get<T>();
    if (!in.ok()) throw Error(Status::bad_archive, "a member sent bytes that are no value of this type");
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

/// A call that is checked and planned once, for the same memory in all its runs. Movable.
class PLEXUS_API PersistentCollective {
  public:
    class State;
    explicit PersistentCollective(std::unique_ptr<State> state) noexcept;
    PersistentCollective(PersistentCollective&&) noexcept;
    PersistentCollective& operator=(PersistentCollective&&) noexcept;
    ~PersistentCollective();

    /// Starts one run. All members must start the same number of runs.
    /// @error as Collectives; busy: the last run has not ended (thrown)
    Future<void> start();
    /// Executes one run to its end. All members must use run() for the same run. Unlike start(), run()
    /// uses shared memory. @error as start(); would_deadlock (thrown)
    void run();

  private:
    std::unique_ptr<State> state_;
};

/// The operations with a future. Several calls may be under way at once. They advance whenever any thread
/// makes progress. Destroying a future does not end its call.
class PLEXUS_API AsyncGroup : public Collectives<AsyncGroup> {
  public:
    AsyncGroup(std::shared_ptr<detail::GroupState> state, Algorithm algorithm, Deadline deadline) noexcept
      : state_(std::move(state))
      , algorithm_(std::move(algorithm))
      , deadline_(deadline) {}
    Future<void> begin(const detail::CollectiveArgs& args) const;

  private:
    std::shared_ptr<detail::GroupState> state_;
    Algorithm algorithm_;
    Deadline deadline_;
};

/// The operations as persistent collectives, which may be started any number of times.
class PLEXUS_API PreparingGroup : public Collectives<PreparingGroup> {
  public:
    PreparingGroup(std::shared_ptr<detail::GroupState> state, Algorithm algorithm, Deadline deadline) noexcept
      : state_(std::move(state))
      , algorithm_(std::move(algorithm))
      , deadline_(deadline) {}
    PersistentCollective begin(const detail::CollectiveArgs& args) const;

  private:
    std::shared_ptr<detail::GroupState> state_;
    Algorithm algorithm_;
    Deadline deadline_;
};

class Group;
/// What Group::adapt() has found so far. Of a group that does not adapt: nothing. @thread any
PLEXUS_API AdaptReport adaptation_of(const Group& group);

class PLEXUS_API Group : public Collectives<Group> {
  public:
    /// No group: what split() returns on members that it leaves out.
    Group() noexcept = default;

    /// All contexts of the job, by their ranks. All of them must call it the same number of times; each call
    /// makes a new group. `here` must outlive the group and must not be moved.
    /// @error timed_out not_found a member did not join within progress.lookup_timeout (thrown)
    /// @error not_found the map lacks a member's host (thrown on all members; names the host)
    static Group world(Context& here, const GroupOptions& options = {});
    /// The listed contexts of the job, in this order. Each listed context must call it, and no other.
    static Group of(Context& here, std::span<const Rank> world_ranks, const GroupOptions& options = {});
    /// Contexts that find each other by a name in their directory: for contexts without a job, and for
    /// several contexts in one process. Each gives its rank and the number of members.
    static Group meet(Context& here, std::string_view name, Rank rank, Rank size,
                      const GroupOptions& options = {});

    /// False if this is no group.
    explicit operator bool() const noexcept { return state_ != nullptr; }
    Rank rank() const noexcept;
    Rank size() const noexcept;
    /// The context of a member. @error bad_argument no such rank (thrown)
    const ContextId& context_of(Rank member) const;
    /// The rank of a member of this group in another group; nothing if it is no member there.
    std::optional<Rank> rank_in(const Group& other, Rank member) const;
    /// The host of a member, from its options.
    const std::string& host_of(Rank member) const;

    /// Called by every member. Members with the same colour form a group, ordered by key, then rank.
    /// Members with kNoColour are in no group.
    Group split(std::int64_t colour, std::int64_t key = 0) const;
    static constexpr std::int64_t kNoColour = INT64_MIN;
    /// A new group of the same members.
    Group dup() const;

    /// The same group, with another algorithm for calls by the returned handle.
    Group with(Algorithm algorithm) const;
    /// The same group, whose calls by the returned handle follow the schedule of member `from`, which is
    /// sent to all. Called by every member. The others give a schedule without rounds, or the same one.
    /// For the operations of to_plan() alone, with the root that the schedule has.
    /// @error bad_argument no such member; the schedule is not one for this group, see to_plan(); or some
    /// members have another one: the text names them. Thrown on all members; the group stays whole
    /// @error as Collectives (thrown)
    Group by(const GroupSchedule& schedule, Rank from = 0) const;
    /// A new group of the same members, whose map follows the network. It times its blocking calls. Every few
    /// calls, before one of them begins, member 0 compares the members' times with what is expected. If calls
    /// take too long, members measure edges of their plans with a few messages, and member 0 sends all
    /// members the changes of the map. Later calls follow the refined map: no member decides by what it
    /// measured itself. Called by every member, with the same options; the calls of the new group must be
    /// blocking on all members or on none. A persistent collective keeps its plan. Calls through shared
    /// memory and v forms are counted and not timed.
    /// A call before which members check has its deadline for itself, and so has each step of the check: the
    /// times, each decision, each message of a measurement. Edges are left out that are expected to take more
    /// than a quarter of the deadline, and all that is measured in one check is expected to take at most one
    /// deadline. So such a call may take about three deadlines.
    /// @error bad_archive member 0 sends what no member 0 would; the group is broken (thrown)
    /// @error bad_argument the group has no map; members have other options (the text names one); options
    /// that make no sense. Thrown on all members
    /// @error as Collectives (thrown)
    Group adapt(const AdaptOptions& options = {}) const;
    /// The same group, with a deadline for each call by the returned handle: all.with(plexus::deadline(2s)).
    /// Without one, the context's limits.call_deadline holds; no_deadline: no limit. Making a group has no
    /// limit. A call that has not ended in time fails with deadline_exceeded, and the group is broken for all
    /// members.
    Group with(Deadline deadline) const;
    /// The operations with futures, or as persistent collectives.
    AsyncGroup async() const { return {state_, algorithm_, deadline_}; }
    PreparingGroup prepare() const { return {state_, algorithm_, deadline_}; }

    // In addition to the operations on spans: single values of plain types, and of types that cereal can
    // archive.

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
    /// The members' values by rank on the root; empty on other members.
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
    /// Element `rank()` of the root's `values`. @error bad_argument the root has not one for each member
    /// (thrown)
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

    /// The members in a ring that crosses few and cheap edges. Called by every member. Declared in
    /// plexus/eco/grid.h, together with meshes and tori.
    Ring ring() const;
    /// The time of a small message between two members, in microseconds: by the map, or without a map
    /// 1 on one host and 100 between hosts.
    double cost_us(Rank a, Rank b) const;

    /// The plan of such a call if it uses messages: for display or estimates. @error as the call (thrown)
    Plan plan_of(const PlanRequest& request) const;

    void begin(const detail::CollectiveArgs& args) const;
    const std::shared_ptr<detail::GroupState>& state() const noexcept { return state_; }
    explicit Group(std::shared_ptr<detail::GroupState> state) noexcept;

  private:
    friend PLEXUS_API AdaptReport adaptation_of(const Group& group);
    using Bytes = std::vector<std::byte>;
    std::vector<Bytes> gather_bytes(const Bytes& mine, Rank root) const;
    std::vector<Bytes> all_gather_bytes(const Bytes& mine) const;
    Bytes scatter_bytes(const std::vector<Bytes>& all, Rank root) const;

    std::shared_ptr<detail::GroupState> state_;
    std::shared_ptr<detail::Adaptation> adaptation_; ///< null: the group does not adapt
    Algorithm algorithm_;
    Deadline deadline_;
};

} // namespace plexus::eco
