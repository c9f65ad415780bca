// SPDX-License-Identifier: BSD-3-Clause
// How a type of your own says what it is on the wire, and how the fields of a plain struct
// are found where it says nothing.
//
//   struct Sample { double value; std::uint32_t station; };  // plain: nothing to write
//
//   struct Reading { std::string station; std::vector<double> values; };
//   PLEXUS_FIELDS(Reading, station, values)                  // travels field by field
//
//   class Version { int major_, minor_; friend PLEXUS_FIELDS(Version, major_, minor_) };
//
//   struct Legacy { template <class A> void serialize(A& archive); };
//   PLEXUS_NAME(Legacy, "legacy/1")                          // cereal writes it, the name identifies it
//
// A plain struct is a trivially copyable aggregate. Its identity is its size, its alignment and
// the types of its fields in order, under every compiler. Names of fields are not seen, so that
// {float x, y;} and {float y, x;} are one type, until PLEXUS_FIELDS names the fields or
// PLEXUS_NAME the type. It travels as its bytes in memory with zeros in the padding.
//
// With PLEXUS_FIELDS the names take part in the identity. Fields that are not listed do not
// travel: they keep their initial value in a type that is read field by field, and are zero in a
// trivially copyable one.
//
// A type that grows a field is another type: requests that take it are refused with an error that
// shows both signatures, never misread. To serve old and new programs side by side, keep the old
// struct under its request's name and declare the new one under another ("ocean.probe/2").
// A type with serialize() is known by its name alone: give it a new name when its bytes change, or
// keep the name and let cereal's class version tell serialize() what to read.
#pragma once

#include "plexus/export.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace plexus::detail {

/// One listed field: its name and where it is.
template <class Owner, class T>
struct NamedField {
    std::string_view name;
    T Owner::*member;
};
template <class Owner, class T>
NamedField(const char*, T Owner::*) -> NamedField<Owner, T>;

/// Known by PLEXUS_FIELDS.
template <class T>
concept Listed = requires {
    plexus_fields(std::type_identity<T>{});
};

/// Known by PLEXUS_NAME.
template <class T>
concept Named = requires {
    { plexus_name(std::type_identity<T>{}) } -> std::convertible_to<std::string_view>;
};

/// The most initialisers of a struct whose fields are found by themselves: an array counts as
/// its elements.
inline constexpr std::size_t kMostInitialisers = 256;
/// The most fields of such a struct if it has padding or a bool.
inline constexpr std::size_t kMostFields = 32;

// Fields are found by asking how many initialisers an aggregate takes, each of which converts
// to any type; the types are those that are asked of the initialisers, in order.
struct AnyField {
    template <class F>
    constexpr operator F() const noexcept; // never called
};
template <class T>
struct AnyBase {
    template <class F>
    requires(std::is_base_of_v<F, T> && !std::same_as<F, T>) constexpr operator F() const noexcept;
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) noexcept {
    return requires { T{(static_cast<void>(I), AnyField{})...}; };
}
/// True if one empty initialiser in braces after I others leaves room for J more.
template <class T, std::size_t... I, std::size_t... J>
constexpr bool takes_braces(std::index_sequence<I...>, std::index_sequence<J...>) noexcept {
    return requires { T{(static_cast<void>(I), AnyField{})..., {}, (static_cast<void>(J), AnyField{})...}; };
}

template <class T, std::size_t Low, std::size_t High>
constexpr std::size_t most_initialisers() noexcept { // takes<Low> holds, takes<High> does not
    if constexpr (High - Low <= 1) {
        return Low;
    } else if constexpr (constexpr std::size_t kMiddle = (Low + High) / 2;
                         takes<T>(std::make_index_sequence<kMiddle>{})) {
        return most_initialisers<T, kMiddle, High>();
    } else {
        return most_initialisers<T, Low, kMiddle>();
    }
}
template <class T>
inline constexpr std::size_t kInitialisers =
    most_initialisers<T, 0, (sizeof(T) < kMostInitialisers ? sizeof(T) : kMostInitialisers) + 1>();

/// How many of the initialisers from `At` on one array takes; 1 for anything else.
template <class T, std::size_t At, std::size_t Extent = 1>
constexpr std::size_t initialisers_of_field() noexcept {
    constexpr std::size_t kAll = kInitialisers<T>;
    if constexpr (At + Extent >= kAll) {
        return kAll - At;
    } else if constexpr (takes_braces<T>(std::make_index_sequence<At>{},
                                         std::make_index_sequence<kAll - At - Extent>{})) {
        return Extent;
    } else {
        return initialisers_of_field<T, At, Extent + 1>();
    }
}
template <class T, std::size_t At = 0, std::size_t Count = 0>
constexpr std::size_t count_fields() noexcept {
    if constexpr (At >= kInitialisers<T> || Count > kMostFields) {
        return Count;
    } else {
        return count_fields<T, At + initialisers_of_field<T, At>(), Count + 1>();
    }
}
template <class T>
inline constexpr std::size_t kFields = count_fields<T>();

/// A trivially copyable aggregate without bases whose initialisers may be asked for.
template <class T>
concept Reflectable =
    std::is_class_v<T> && std::is_aggregate_v<T> && std::is_trivially_copyable_v<T> && !requires {
    T{AnyBase<T>{}};
};

/// Tells `visitor` of each type that it is asked for.
template <class Visitor>
struct AskedField {
    Visitor* visitor;
    template <class F>
    constexpr operator F() const {
        visitor->template field<F>();
        return F{};
    }
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces" // initialisers of an array stand side by side
template <class T, class Visitor, std::size_t... I>
constexpr void visit_initialisers(Visitor& visitor, std::index_sequence<I...>) {
    static_cast<void>(T{(static_cast<void>(I), AskedField<Visitor>{&visitor})...});
}
#pragma GCC diagnostic pop

/// Calls visitor.field<F>() for the type of each field of a Listed or Reflectable type.
template <class T, class Visitor>
constexpr void visit_field_types(Visitor& visitor) {
    if constexpr (Listed<T>) {
        std::apply([&]<class... Owner, class... F>(
                       const NamedField<Owner, F>&...) { (visitor.template field<F>(), ...); },
                   plexus_fields(std::type_identity<T>{}));
    } else {
        visit_initialisers<T>(visitor, std::make_index_sequence<kInitialisers<T>>{});
    }
}

// One line for each number of fields: a structured binding names exactly as many as there are.
#define PLEXUS_DETAIL_BIND(number, ...)                                                                      \
    else if constexpr (kFields<std::remove_const_t<T>> == number) {                                          \
        auto& [__VA_ARGS__] = object;                                                                        \
        visit_all(visit, __VA_ARGS__);                                                                       \
    }

template <class Visit, class... F>
constexpr void visit_all(Visit& visit, F&... fields) {
    (visit(fields), ...);
}

/// Calls visit(field) for each field of a Listed or Reflectable object, in order.
template <class T, class Visit>
constexpr void visit_fields(T& object, Visit&& visit) {
    if constexpr (Listed<std::remove_const_t<T>>) {
        std::apply([&](const auto&... field) { (visit(object.*field.member), ...); },
                   plexus_fields(std::type_identity<std::remove_const_t<T>>{}));
    } else if constexpr (kInitialisers<std::remove_const_t<T>> == 0) {
    }
    // clang-format off
    PLEXUS_DETAIL_BIND(1, a)
    PLEXUS_DETAIL_BIND(2, a, b)
    PLEXUS_DETAIL_BIND(3, a, b, c)
    PLEXUS_DETAIL_BIND(4, a, b, c, d)
    PLEXUS_DETAIL_BIND(5, a, b, c, d, e)
    PLEXUS_DETAIL_BIND(6, a, b, c, d, e, f)
    PLEXUS_DETAIL_BIND(7, a, b, c, d, e, f, g)
    PLEXUS_DETAIL_BIND(8, a, b, c, d, e, f, g, h)
    PLEXUS_DETAIL_BIND(9, a, b, c, d, e, f, g, h, i)
    PLEXUS_DETAIL_BIND(10, a, b, c, d, e, f, g, h, i, j)
    PLEXUS_DETAIL_BIND(11, a, b, c, d, e, f, g, h, i, j, k)
    PLEXUS_DETAIL_BIND(12, a, b, c, d, e, f, g, h, i, j, k, l)
    PLEXUS_DETAIL_BIND(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    PLEXUS_DETAIL_BIND(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    PLEXUS_DETAIL_BIND(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    PLEXUS_DETAIL_BIND(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    PLEXUS_DETAIL_BIND(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    PLEXUS_DETAIL_BIND(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    PLEXUS_DETAIL_BIND(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    PLEXUS_DETAIL_BIND(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    PLEXUS_DETAIL_BIND(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    PLEXUS_DETAIL_BIND(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    PLEXUS_DETAIL_BIND(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    PLEXUS_DETAIL_BIND(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
    PLEXUS_DETAIL_BIND(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
    PLEXUS_DETAIL_BIND(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
    PLEXUS_DETAIL_BIND(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A)
    PLEXUS_DETAIL_BIND(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B)
    PLEXUS_DETAIL_BIND(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C)
    PLEXUS_DETAIL_BIND(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D)
    PLEXUS_DETAIL_BIND(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E)
    PLEXUS_DETAIL_BIND(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F)
    // clang-format on
}
#undef PLEXUS_DETAIL_BIND

} // namespace plexus::detail

#define PLEXUS_DETAIL_PARENS ()
#define PLEXUS_DETAIL_EXPAND(...)                                                                            \
    PLEXUS_DETAIL_EXPAND3(PLEXUS_DETAIL_EXPAND3(PLEXUS_DETAIL_EXPAND3(PLEXUS_DETAIL_EXPAND3(__VA_ARGS__))))
#define PLEXUS_DETAIL_EXPAND3(...)                                                                           \
    PLEXUS_DETAIL_EXPAND2(PLEXUS_DETAIL_EXPAND2(PLEXUS_DETAIL_EXPAND2(PLEXUS_DETAIL_EXPAND2(__VA_ARGS__))))
#define PLEXUS_DETAIL_EXPAND2(...)                                                                           \
    PLEXUS_DETAIL_EXPAND1(PLEXUS_DETAIL_EXPAND1(PLEXUS_DETAIL_EXPAND1(PLEXUS_DETAIL_EXPAND1(__VA_ARGS__))))
#define PLEXUS_DETAIL_EXPAND1(...) __VA_ARGS__
#define PLEXUS_DETAIL_FIELD(field, ...)                                                                      \
    ::plexus::detail::NamedField{#field, &Self::field} __VA_OPT__(                                           \
        , PLEXUS_DETAIL_AGAIN PLEXUS_DETAIL_PARENS(__VA_ARGS__))
#define PLEXUS_DETAIL_AGAIN() PLEXUS_DETAIL_FIELD

/// Lists the fields of a type that travel, in order; at most 64. In the type's namespace, after it; or in
/// the class with `friend` in front, if they are private or the type is a template. No semicolon.
#define PLEXUS_FIELDS(Type, ...)                                                                             \
    constexpr auto plexus_fields [[maybe_unused]] (::std::type_identity<Type>) noexcept {                    \
        using Self = Type;                                                                                   \
        return ::std::tuple{PLEXUS_DETAIL_EXPAND(PLEXUS_DETAIL_FIELD(__VA_ARGS__))};                         \
    }

/// Names a class or an enum on the wire: letters, digits and . _ - / only. In the type's namespace, after it;
/// or in the class with `friend` in front. Types with serialize() need it. No semicolon.
#define PLEXUS_NAME(Type, name)                                                                              \
    constexpr ::std::string_view plexus_name [[maybe_unused]] (::std::type_identity<Type>) noexcept {        \
        return name;                                                                                         \
    }
