// SPDX-License-Identifier: BSD-3-Clause
// The collective operations on spans, once for every form of call: blocking, with a future,
// or prepared. What each means and how its spans must be is said here; who runs it is not.
#pragma once

#include "plexus/eco/plan.h"
#include "plexus/eco/reduction.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace plexus::eco {

/// Lengths of parts, one a member, in elements, and where they begin in the span; without
/// places they lie one behind the other.
struct Parts {
    std::span<const std::uint64_t> counts = {};
    std::span<const std::uint64_t> places = {};
};

namespace detail {

/// One call without its types. Memory stays the caller's until the call has ended.
struct Work {
    Operation operation = Operation::barrier;
    Rank root = 0;
    std::uint32_t element_bytes = 1;
    bool varied = false;   ///< parts have lengths of their own
    bool in_place = false; ///< of all_gather: each member's own part is where it belongs, `send` is nothing
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
    std::uint64_t send_elements = 0;
    std::uint64_t receive_elements = 0;
    Parts send_parts = {};
    Parts receive_parts = {};
    Combine combine = {};
};

template <class S, class T>
inline constexpr bool same_elements = std::is_same_v<std::remove_const_t<S>, T>&& Plain<T>;

} // namespace detail

/// Every member of the group calls the same operation with the same root and sizes, and calls
/// on one group come in the same order and form (blocking, or with a future) everywhere. Spans of one member
/// must not overlap but where it is said. Where a span counts at the root alone, others may leave it empty.
///
/// @thread any, but not inside an inline handler; calls on one group one after the other
/// @owner  spans stay yours; they must live and be left alone until the call has ended
/// @error  bad_argument a span of another size than the operation needs, no such root, counts that
///                      overflow: before anything is sent. Or members that call different things:
///                      named, and the group is broken for all of them
/// @error  peer_lost    a member has died: named; the group is broken, others go on
/// @error  unsupported  the chosen pattern does not suit the operation
template <class Form>
class Collectives {
  public:
    /// The root's elements, to all.
    template <Plain T, std::size_t N>
    auto broadcast(std::span<T, N> data, Rank root = 0) const {
        return run<T>(Operation::broadcast, root, data, data);
    }

    /// Returns when every member has come.
    auto barrier() const { return run<std::byte>(Operation::barrier, 0, none(), none()); }

    /// Part i of the root's `all` to member i's `mine`, which may be the root's own part in place.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto scatter(std::span<S, N> all, std::span<T, M> mine, Rank root = 0) const {
        return run<T>(Operation::scatter, root, all, mine);
    }
    /// Parts of `counts` elements, which count at the root alone.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto scatter_v(std::span<S, N> all, const Parts& parts, std::span<T, M> mine, Rank root = 0) const {
        return run<T>(Operation::scatter, root, all, mine, &parts, nullptr);
    }

    /// Member i's `mine` into part i of the root's `all`. `mine` may be that very part.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto gather(std::span<S, N> mine, std::span<T, M> all, Rank root = 0) const {
        return run<T>(Operation::gather, root, mine, all);
    }
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto gather_v(std::span<S, N> mine, std::span<T, M> all, const Parts& parts, Rank root = 0) const {
        return run<T>(Operation::gather, root, mine, all, nullptr, &parts);
    }

    /// Member i's `mine` into part i of everyone's `all`.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_gather(std::span<S, N> mine, std::span<T, M> all) const {
        return run<T>(Operation::all_gather, 0, mine, all);
    }
    /// In place: each member's own part is where it belongs.
    template <Plain T, std::size_t N>
    auto all_gather(std::span<T, N> all) const {
        return run<T>(Operation::all_gather, 0, in_place(), all);
    }
    /// `parts` count, and are the same, on every member.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_gather_v(std::span<S, N> mine, std::span<T, M> all, const Parts& parts) const {
        return run<T>(Operation::all_gather, 0, mine, all, nullptr, &parts);
    }
    template <Plain T, std::size_t N>
    auto all_gather_v(std::span<T, N> all, const Parts& parts) const {
        return run<T>(Operation::all_gather, 0, in_place(), all, nullptr, &parts);
    }

    /// Part j of member i's `out` becomes part i of member j's `in`.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_to_all(std::span<S, N> out, std::span<T, M> in) const {
        return run<T>(Operation::all_to_all, 0, out, in);
    }
    /// In place. (A copy of `data` is made first.)
    template <Plain T, std::size_t N>
    auto all_to_all(std::span<T, N> data) const {
        return run<T>(Operation::all_to_all, 0, data, data);
    }
    /// What i sends to j must have the length that j expects of i.
    template <class S, Plain T, std::size_t N, std::size_t M>
    requires detail::same_elements<S, T>
    auto all_to_all_v(std::span<S, N> out, const Parts& out_parts, std::span<T, M> in,
                      const Parts& in_parts) const {
        return run<T>(Operation::all_to_all, 0, out, in, &out_parts, &in_parts);
    }

    /// Contributions combined element by element into the root's `into`. See commutes<> for the order.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto reduce(std::span<S, N> from, std::span<T, M> into, Op op, Rank root = 0) const {
        return run<T>(Operation::reduce, root, from, into, nullptr, nullptr, detail::combine_by<T>(op));
    }
    /// In place: the root's `data` becomes the outcome, others' stay as they are.
    template <Plain T, std::size_t N, class Op>
    auto reduce(std::span<T, N> data, Op op, Rank root = 0) const {
        return run<T>(Operation::reduce, root, data, data, nullptr, nullptr, detail::combine_by<T>(op));
    }

    /// The same, and everyone gets it.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto all_reduce(std::span<S, N> from, std::span<T, M> into, Op op) const {
        return run<T>(Operation::all_reduce, 0, from, into, nullptr, nullptr, detail::combine_by<T>(op));
    }
    template <Plain T, std::size_t N, class Op>
    auto all_reduce(std::span<T, N> data, Op op) const {
        return run<T>(Operation::all_reduce, 0, data, data, nullptr, nullptr, detail::combine_by<T>(op));
    }

    /// Part i of the outcome, as long as its `mine`, to member i.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto reduce_scatter(std::span<S, N> from, std::span<T, M> mine, Op op) const {
        return run<T>(Operation::reduce_scatter, 0, from, mine, nullptr, nullptr, detail::combine_by<T>(op));
    }
    /// `parts` count, and are the same, on every member.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto reduce_scatter_v(std::span<S, N> from, const Parts& parts, std::span<T, M> mine, Op op) const {
        return run<T>(Operation::reduce_scatter, 0, from, mine, &parts, nullptr, detail::combine_by<T>(op));
    }

    /// Member i gets what 0 … i contributed, always combined in the order of ranks.
    template <class S, Plain T, std::size_t N, std::size_t M, class Op>
    requires detail::same_elements<S, T>
    auto scan(std::span<S, N> from, std::span<T, M> into, Op op) const {
        return run<T>(Operation::scan, 0, from, into, nullptr, nullptr, detail::combine_by<T>(op));
    }
    template <Plain T, std::size_t N, class Op>
    auto scan(std::span<T, N> data, Op op) const {
        return run<T>(Operation::scan, 0, data, data, nullptr, nullptr, detail::combine_by<T>(op));
    }
    /// Member i gets what 0 … i - 1 contributed; `into` of member 0 stays as it is.
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
    auto run(Operation operation, Rank root, From from, Into into, const Parts* send_parts = nullptr,
             const Parts* receive_parts = nullptr, detail::Combine combine = {}) const {
        detail::Work work;
        work.operation = operation;
        work.root = root;
        work.element_bytes = static_cast<std::uint32_t>(sizeof(T));
        work.varied = send_parts != nullptr || receive_parts != nullptr;
        work.in_place = std::is_same_v<From, InPlace>;
        work.send = reinterpret_cast<const std::byte*>(from.data());
        work.receive = reinterpret_cast<std::byte*>(into.data());
        work.send_elements = from.size();
        work.receive_elements = into.size();
        if (send_parts != nullptr) work.send_parts = *send_parts;
        if (receive_parts != nullptr) work.receive_parts = *receive_parts;
        work.combine = std::move(combine);
        return static_cast<const Form&>(*this).begin(work);
    }

  private:
    /// Stands where a span to send would, and is none.
    struct InPlace : std::span<const std::byte> {};
    static InPlace in_place() { return {}; }
    static std::span<std::byte> none() { return {}; }
};

} // namespace plexus::eco
