// SPDX-License-Identifier: BSD-3-Clause
// The collective operations on spans, declared once for all forms of call: blocking, with a future,
// or persistent. Defines what each operation means and which spans it takes.
#pragma once

#include "plexus/eco/plan.h"
#include "plexus/eco/reduction.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace plexus::eco {

/// Where the part of each member lies in a span: number of elements, and index of the first. Without
/// displacements the parts follow each other without gaps.
struct Layout {
    std::span<const std::uint64_t> counts = {};
    std::span<const std::uint64_t> displacements = {};
};

namespace detail {

/// The arguments of one call without their types. The memory must live until the call has ended.
struct CollectiveArgs {
    Operation operation = Operation::barrier;
    Rank root = 0;
    std::uint32_t element_bytes = 1;
    bool varied = false;   ///< v form: parts have different lengths
    bool in_place = false; ///< all_gather: the member's own part is in `receive` already, `send` is empty
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
    std::uint64_t send_elements = 0;
    std::uint64_t receive_elements = 0;
    Layout send_layout = {};
    Layout receive_layout = {};
    Combine combine = {};
};

template <class S, class T>
inline constexpr bool same_elements = std::is_same_v<std::remove_const_t<S>, T>&& Plain<T>;

} // namespace detail

/// Every member of the group calls the same operation with the same root and sizes, in the same order and
/// form (blocking, or with a future). Spans of one member must not overlap unless an operation allows it.
/// A span that counts at the root only may be empty on other members.
///
/// @thread any, but not inside an inline handler; one call on a group at a time
/// @owner  spans stay yours; they must live and must not be touched until the call has ended
/// @error  bad_argument      a span has the wrong size, there is no such root, or counts overflow: nothing
///                           was sent. Or members call different operations: the text names both calls,
///                           and the group is broken for all members
/// @error  peer_lost         a member has died: the text names it, and the group is broken; other groups
///                           are not affected
/// @error  deadline_exceeded the deadline of Group::with() has passed: the group
///                           is broken for all members
/// @error  unsupported       the chosen algorithm does not support the operation
template <class Form>
class Collectives {
  public:
    /// Copies the root's elements to all members.
    template <Plain T, std::size_t N>
    auto broadcast(std::span<T, N> data, Rank root = 0) const {
        return run<T>(Operation::broadcast, root, data, data);
    }

    /// Returns when all members have called it.
    auto barrier() const { return run<std::byte>(Operation::barrier, 0, none(), none()); }

    /// Copies part i of the root's `all` to member i's `mine`. The root's `mine` may be its own part of
    /// `all`.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto scatter(std::span<S, N> all, std::span<T, M> mine, Rank root = 0) const {
        return run<T>(Operation::scatter, root, all, mine);
    }
    /// The same with parts of different lengths. `layout` counts at the root only.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto scatter_v(std::span<S, N> all, const Layout& layout, std::span<T, M> mine, Rank root = 0) const {
        return run<T>(Operation::scatter, root, all, mine, &layout, nullptr);
    }

    /// Copies member i's `mine` into part i of the root's `all`. The root's `mine` may be that part.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto gather(std::span<S, N> mine, std::span<T, M> all, Rank root = 0) const {
        return run<T>(Operation::gather, root, mine, all);
    }
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto gather_v(std::span<S, N> mine, std::span<T, M> all, const Layout& layout, Rank root = 0) const {
        return run<T>(Operation::gather, root, mine, all, nullptr, &layout);
    }

    /// Copies member i's `mine` into part i of every member's `all`.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_gather(std::span<S, N> mine, std::span<T, M> all) const {
        return run<T>(Operation::all_gather, 0, mine, all);
    }
    /// In place: each member's own part is in `all` already.
    template <Plain T, std::size_t N>
    auto all_gather(std::span<T, N> all) const {
        return run<T>(Operation::all_gather, 0, in_place(), all);
    }
    /// `layout` counts, and is the same, on every member.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_gather_v(std::span<S, N> mine, std::span<T, M> all, const Layout& layout) const {
        return run<T>(Operation::all_gather, 0, mine, all, nullptr, &layout);
    }
    template <Plain T, std::size_t N>
    auto all_gather_v(std::span<T, N> all, const Layout& layout) const {
        return run<T>(Operation::all_gather, 0, in_place(), all, nullptr, &layout);
    }

    /// Copies part j of member i's `out` to part i of member j's `in`.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_to_all(std::span<S, N> out, std::span<T, M> in) const {
        return run<T>(Operation::all_to_all, 0, out, in);
    }
    /// In place. (Copies `data` first.)
    template <Plain T, std::size_t N>
    auto all_to_all(std::span<T, N> data) const {
        return run<T>(Operation::all_to_all, 0, data, data);
    }
    /// The length that i sends to j must equal the length that j expects from i.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_to_all_v(std::span<S, N> out, const Layout& out_layout, std::span<T, M> in,
                      const Layout& in_layout) const {
        return run<T>(Operation::all_to_all, 0, out, in, &out_layout, &in_layout);
    }

    /// Combines the members' `from` element by element into the root's `into`. See commutes<> for the order.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto reduce(std::span<S, N> from, std::span<T, M> into, Op op, Rank root = 0) const {
        return run<T>(Operation::reduce, root, from, into, nullptr, nullptr, detail::combine_by<T>(op));
    }
    /// In place: the root's `data` becomes the result, other members' `data` is unchanged.
    template <Plain T, std::size_t N, class Op>
    auto reduce(std::span<T, N> data, Op op, Rank root = 0) const {
        return run<T>(Operation::reduce, root, data, data, nullptr, nullptr, detail::combine_by<T>(op));
    }

    /// The same, with the result on every member.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto all_reduce(std::span<S, N> from, std::span<T, M> into, Op op) const {
        return run<T>(Operation::all_reduce, 0, from, into, nullptr, nullptr, detail::combine_by<T>(op));
    }
    template <Plain T, std::size_t N, class Op>
    auto all_reduce(std::span<T, N> data, Op op) const {
        return run<T>(Operation::all_reduce, 0, data, data, nullptr, nullptr, detail::combine_by<T>(op));
    }

    /// Combines as reduce() and copies part i of the result to member i's `mine`.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto reduce_scatter(std::span<S, N> from, std::span<T, M> mine, Op op) const {
        return run<T>(Operation::reduce_scatter, 0, from, mine, nullptr, nullptr, detail::combine_by<T>(op));
    }
    /// `layout` counts, and is the same, on every member.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto reduce_scatter_v(std::span<S, N> from, const Layout& layout, std::span<T, M> mine, Op op) const {
        return run<T>(Operation::reduce_scatter, 0, from, mine, &layout, nullptr, detail::combine_by<T>(op));
    }

    /// Member i gets the combination of members 0 … i, always in the order of ranks.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto scan(std::span<S, N> from, std::span<T, M> into, Op op) const {
        return run<T>(Operation::scan, 0, from, into, nullptr, nullptr, detail::combine_by<T>(op));
    }
    template <Plain T, std::size_t N, class Op>
    auto scan(std::span<T, N> data, Op op) const {
        return run<T>(Operation::scan, 0, data, data, nullptr, nullptr, detail::combine_by<T>(op));
    }
    /// Member i gets the combination of members 0 … i - 1; `into` of member 0 is unchanged.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto exclusive_scan(std::span<S, N> from, std::span<T, M> into, Op op) const {
        return run<T>(Operation::exclusive_scan, 0, from, into, nullptr, nullptr, detail::combine_by<T>(op));
    }
    template <Plain T, std::size_t N, class Op>
    auto exclusive_scan(std::span<T, N> data, Op op) const {
        return run<T>(Operation::exclusive_scan, 0, data, data, nullptr, nullptr, detail::combine_by<T>(op));
    }

  protected:
    template <class T, class From, class Into>
    auto run(Operation operation, Rank root, From from, Into into, const Layout* send_layout = nullptr,
             const Layout* receive_layout = nullptr, detail::Combine combine = {}) const {
        detail::CollectiveArgs args;
        args.operation = operation;
        args.root = root;
        args.element_bytes = static_cast<std::uint32_t>(sizeof(T));
        args.varied = send_layout != nullptr || receive_layout != nullptr;
        args.in_place = std::is_same_v<From, InPlace>;
        args.send = reinterpret_cast<const std::byte*>(from.data());
        args.receive = reinterpret_cast<std::byte*>(into.data());
        args.send_elements = from.size();
        args.receive_elements = into.size();
        if (send_layout != nullptr) args.send_layout = *send_layout;
        if (receive_layout != nullptr) args.receive_layout = *receive_layout;
        args.combine = std::move(combine);
        return static_cast<const Form&>(*this).begin(args);
    }

  private:
    /// Takes the place of a span to send.
    struct InPlace : std::span<const std::byte> {};
    static InPlace in_place() { return {}; }
    static std::span<std::byte> none() { return {}; }
};

} // namespace plexus::eco
