// SPDX-License-Identifier: BSD-3-Clause
// How two contributions become one: the user's function, whether their order counts, and a
// form of it that the engine can carry. Any thread.
#pragma once

#include "plexus/export.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <ranges>
#include <type_traits>

namespace plexus::eco {

/// Elements that travel as their own bytes; a view's would mean nothing to another process.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                !std::ranges::enable_view<std::remove_cv_t<T>>;

/// The smaller and the greater of two.
struct Min {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        return std::min(a, b);
    }
};
struct Max {
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        return std::max(a, b);
    }
};

/// Says of a function that op(a, b) is op(b, a): patterns that change the order may be taken.
template <class Op>
struct Commuting {
    Op op;
    template <class T>
    constexpr T operator()(const T& a, const T& b) const {
        return op(a, b);
    }
};
template <class Op>
Commuting(Op) -> Commuting<Op>;

/// True of Commuting, of Min and Max, and of the standard's plus, multiplies, bit_and, bit_or,
/// bit_xor, logical_and and logical_or on numbers. Specialise it for types of your own. Of
/// any other function contributions are combined in the order of ranks: op(op(x0, x1), x2) with
/// brackets as the pattern has them. The same plan always combines in the same order, and every
/// member gets the same bits. What it throws, a plexus::Error or another, comes out of the blocking call of
/// the member on which it threw, and the group is broken for all: the others' calls, futures, and later
/// calls end with bad_argument.
template <class Op, class T>
inline constexpr bool commutes = false;
template <class Op, class T>
inline constexpr bool commutes<Commuting<Op>, T> = true;
template <class T>
inline constexpr bool commutes<Min, T> = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool commutes<Max, T> = std::is_arithmetic_v<T>;
template <template <class> class Op, class Of, class T>
requires(std::is_same_v<Op<Of>, std::plus<Of>> || std::is_same_v<Op<Of>, std::multiplies<Of>> ||
         std::is_same_v<Op<Of>, std::bit_and<Of>> || std::is_same_v<Op<Of>, std::bit_or<Of>> ||
         std::is_same_v<Op<Of>, std::bit_xor<Of>> || std::is_same_v<Op<Of>, std::logical_and<Of>> ||
         std::is_same_v<Op<Of>, std::logical_or<Of>>) inline constexpr bool commutes<Op<Of>, T> =
    std::is_arithmetic_v<T>;

namespace detail {

/// What arrives is aligned to so many bytes.
inline constexpr std::size_t kAlignment = 8;

/// A function without its types.
struct Combine {
    /// into = op(left, right), element by element; `into` is one of the two, or neither.
    using Run = void (*)(const void* op, std::byte* into, const std::byte* left, const std::byte* right,
                         std::size_t elements);
    Run run = nullptr;
    std::shared_ptr<const void> op = nullptr;
    bool commutative = true;
};

template <class T, class Op>
Combine combine_by(Op&& op) {
    using Function = std::remove_cvref_t<Op>;
    static_assert(std::is_invocable_r_v<T, const Function&, const T&, const T&>,
                  "the operation can't be called as T(const T&, const T&)");
    Combine out;
    out.run = [](const void* function, std::byte* into, const std::byte* left, const std::byte* right,
                 std::size_t elements) {
        const Function& apply = *static_cast<const Function*>(function);
        if constexpr (alignof(T) <= kAlignment) {
            T* const to = reinterpret_cast<T*>(into);
            const T* const a = reinterpret_cast<const T*>(left);
            const T* const b = reinterpret_cast<const T*>(right);
            for (std::size_t i = 0; i < elements; ++i) to[i] = apply(a[i], b[i]);
        } else {
            for (std::size_t at = 0; at < elements * sizeof(T); at += sizeof(T)) {
                alignas(T) std::byte room[2][sizeof(T)];
                std::memcpy(room[0], left + at, sizeof(T));
                std::memcpy(room[1], right + at, sizeof(T));
                const T one =
                    apply(*reinterpret_cast<const T*>(room[0]), *reinterpret_cast<const T*>(room[1]));
                std::memcpy(into + at, &one, sizeof(T));
            }
        }
    };
    if constexpr (std::is_empty_v<Function> && std::is_default_constructible_v<Function>) {
        static constexpr Function kFunction{}; // shared by all calls: nothing to keep
        out.op = std::shared_ptr<const void>(std::shared_ptr<const void>(), &kFunction);
    } else {
        out.op = std::make_shared<const Function>(std::forward<Op>(op));
    }
    out.commutative = commutes<Function, T>;
    return out;
}

} // namespace detail
} // namespace plexus::eco
