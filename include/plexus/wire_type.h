// SPDX-License-Identifier: BSD-3-Clause
// What a type is on the wire, as a number that both sides of a request can compare: widths
// and element types for plain data, the name for everything else. Compile time only.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plexus::detail {

static_assert(std::endian::native == std::endian::little,
              "Plexus puts little-endian bytes on the wire and has no big-endian port yet");

template <class T>
concept Scalar = (std::is_arithmetic_v<T> && !std::same_as<T, long double>) || std::is_enum_v<T>;

/// Elements that may travel as their own bytes, and be viewed in a receive buffer.
template <class T>
concept Element = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && alignof(T) <= 8;

template <class T>
struct RangeOf : std::false_type {};
template <Element T>
struct RangeOf<std::span<T>> : std::true_type {
    using Item = std::remove_const_t<T>;
    static constexpr bool kView = true;
};
template <Element T, class A>
requires(!std::same_as<T, bool>) struct RangeOf<std::vector<T, A>> : std::true_type {
    using Item = T;
    static constexpr bool kView = false;
};
template <class A>
struct RangeOf<std::basic_string<char, std::char_traits<char>, A>> : std::true_type {
    using Item = char;
    static constexpr bool kView = false;
};
template <>
struct RangeOf<std::string_view> : std::true_type {
    using Item = char;
    static constexpr bool kView = true;
};

/// Contiguous ranges of plain elements: a count, then the bytes, 8-byte aligned.
template <class T>
concept Range = RangeOf<T>::value;

constexpr std::uint64_t mix(std::uint64_t hash, std::string_view text) noexcept {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull; // FNV-1a
    return hash;
}
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((value >> shift) & 0xff)) * 0x100000001b3ull;
    return hash;
}

/// The type's name as the compiler prints it, the same for gcc and clang for types that
/// have a name in a namespace.
template <class T>
constexpr std::string_view type_name() noexcept {
    constexpr std::string_view whole = __PRETTY_FUNCTION__;
    constexpr std::size_t start = whole.find("T = ") + 4;
    return whole.substr(start, whole.find_first_of(";]", start) - start);
}

template <class T>
constexpr std::uint64_t wire_type() noexcept {
    constexpr std::uint64_t kSeed = 0xcbf29ce484222325ull;
    if constexpr (std::same_as<T, void>) {
        return mix(kSeed, "void");
    } else if constexpr (std::is_enum_v<T>) {
        return wire_type<std::underlying_type_t<T>>();
    } else if constexpr (std::same_as<T, bool>) {
        return mix(kSeed, "bool");
    } else if constexpr (Scalar<T>) {
        return mix(mix(kSeed, std::is_floating_point_v<T> ? "float"
                              : std::is_signed_v<T>       ? "int"
                                                          : "uint"),
                   std::uint64_t{sizeof(T)});
    } else if constexpr (Range<T>) {
        return mix(mix(kSeed, "range"), wire_type<typename RangeOf<T>::Item>());
    } else {
        return mix(mix(kSeed, "type"), type_name<T>());
    }
}

template <class R, class T, class... P>
constexpr std::uint64_t signature_of() noexcept {
    std::uint64_t hash = mix(wire_type<R>(), wire_type<T>());
    ((hash = mix(hash, wire_type<std::remove_cvref_t<P>>())), ...);
    return hash;
}

} // namespace plexus::detail
