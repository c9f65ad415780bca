// SPDX-License-Identifier: BSD-3-Clause
// Which kind of value a type is to the wire: a number, text, a container by its shape, a plain
// struct, listed fields, or something that only cereal can write. Compile time only.
#pragma once

#include "plexus/export.h"
#include "plexus/fields.h"

#include <bit>
#include <cereal/cereal.hpp>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plexus {
template <class T>
class GlobalPointer;
} // namespace plexus

namespace plexus::detail {

static_assert(std::endian::native == std::endian::little,
              "Plexus puts little-endian bytes on the wire and has no big-endian port yet");

class OutputArchive;
class InputArchive;

template <class T>
concept Scalar = (std::is_arithmetic_v<T> && !std::same_as<T, long double>) || std::is_enum_v<T>;

/// A type with serialize(), or save() and load(), that cereal can call.
template <class T>
concept Cerealised = cereal::traits::is_output_serializable<T, OutputArchive>::value;

// Shapes of library types, told by what they offer: no header of theirs is needed here.
template <class T>
inline constexpr bool kText = false;
template <class C, class R, class A>
inline constexpr bool kText<std::basic_string<C, R, A>> = true;
template <class T>
inline constexpr bool kView = false;
template <class T>
inline constexpr bool kView<std::span<T>> = true;
template <class C, class R>
inline constexpr bool kView<std::basic_string_view<C, R>> = true;
template <class T>
inline constexpr bool kUnique = false;
template <class T, class D>
inline constexpr bool kUnique<std::unique_ptr<T, D>> = true;
template <class T>
inline constexpr bool kShared = false;
template <class T>
inline constexpr bool kShared<std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool kPointer = false;
template <class T>
inline constexpr bool kPointer<GlobalPointer<T>> = true;
template <class T>
inline constexpr bool kDuration = false;
template <class R, class P>
inline constexpr bool kDuration<std::chrono::duration<R, P>> = true;
template <class T>
inline constexpr bool kTime = false;
template <class C, class D>
inline constexpr bool kTime<std::chrono::time_point<C, D>> = true;

template <class T>
concept TupleLike = requires {
    std::tuple_size<T>::value;
};
template <class T>
concept ArrayLike = TupleLike<T> && requires(T t) {
    typename T::value_type;
    t.fill(t[0]);
};
template <class T>
concept OptionalLike = requires(T t) {
    typename T::value_type;
    t.has_value();
    t.emplace();
    *t;
    t.reset();
};
template <class T>
concept VariantLike = requires(T t) {
    t.index();
    t.valueless_by_exception();
};
template <class T>
concept ComplexLike = requires(T t) {
    typename T::value_type;
    t.real();
    t.imag();
};
template <class T>
concept BitsetLike = requires(T t) {
    t.to_ullong();
    t.flip();
    t.size();
};
template <class T>
concept SetLike = requires(T t, typename T::value_type v) {
    typename T::key_type;
    t.insert(v);
    t.begin();
    t.end();
    t.clear();
    t.size();
};
template <class T>
concept MapLike = SetLike<T> && requires {
    typename T::mapped_type;
};
template <class T>
concept UniqueKeys = requires(T t, typename T::value_type v) {
    t.insert(v).second;
};
template <class T>
concept ForwardList = requires(T t) {
    typename T::value_type;
    t.before_begin();
    t.end();
    t.clear();
};
template <class T>
concept SequenceLike = ForwardList<T> || requires(T t) {
    typename T::value_type;
    t.emplace_back();
    t.begin();
    t.end();
    t.clear();
    t.size();
};
template <class T>
concept ValarrayLike = requires(T t) {
    typename T::value_type;
    t.cshift(1);
    t.size();
    t[0];
};
template <class T>
concept AdaptorLike = requires(T t) {
    typename T::container_type;
    t.pop();
    t.size();
};

/// What an array field, std::array, sequence … holds.
template <class T>
struct ItemOf {
    using type = typename T::value_type;
};
template <class T, std::size_t N>
struct ItemOf<T[N]> {
    using type = T;
};
template <class T>
using Item = std::remove_const_t<typename ItemOf<T>::type>;

template <class T>
constexpr bool is_element() noexcept;

/// Adds up what is known of a struct's fields.
struct Layout {
    bool elements = true;  ///< every field is plain
    bool pointers = false; ///< a field is a pointer
    bool bools = false;
    bool exact = true;     ///< no field is a floating-point number: representations are unique
    std::size_t bytes = 0; ///< all but padding
    std::size_t end = 0;   ///< where the last field ends, if each begins as early as it may
    template <class F>
    constexpr void field() noexcept;
};

template <class T>
consteval Layout layout_of() noexcept {
    Layout layout;
    if constexpr (Listed<T> || Reflectable<T>) visit_field_types<T>(layout);
    return layout;
}
template <class T>
inline constexpr Layout kLayout = layout_of<T>();

/// True if the struct's fields can be told apart: see kMostInitialisers, kMostFields.
template <class T>
constexpr bool fields_seen() noexcept {
    if constexpr (Listed<T> || kInitialisers<T> == 0) {
        return true;
    } else if constexpr (kLayout<T>.bytes > sizeof(T)) {
        return false; // bit-fields
    } else if constexpr (kLayout<T>.bytes == sizeof(T) && !kLayout<T>.bools) {
        return !kLayout<T>.exact || std::has_unique_object_representations_v<T>;
    } else if constexpr ((kLayout<T>.end + alignof(T) - 1) / alignof(T) * alignof(T) != sizeof(T)) {
        return false; // there are more than the limit, or alignas
    } else {
        return kFields<T> <= kMostFields;
    }
}

/// Trivially copyable, of known fields: may travel as its bytes.
template <class T>
constexpr bool is_element() noexcept {
    if constexpr (Scalar<T>) {
        return true;
    } else if constexpr (std::is_array_v<T>) {
        return is_element<Item<T>>();
    } else if constexpr (!std::is_class_v<T> || !std::is_trivially_copyable_v<T>) {
        return false;
    } else if constexpr (Listed<T>) {
        return kLayout<T>.elements;
    } else if constexpr (ArrayLike<T> || ComplexLike<T>) {
        return is_element<Item<T>>();
    } else if constexpr (kDuration<T>) {
        return Scalar<typename T::rep>;
    } else if constexpr (kView<T> || TupleLike<T> || OptionalLike<T> || VariantLike<T> || BitsetLike<T> ||
                         kTime<T> || !Reflectable<T>) {
        return false;
    } else if constexpr (std::is_empty_v<T>) {
        return true;
    } else if constexpr (Cerealised<T>) {
        return false;
    } else {
        return kLayout<T>.elements && fields_seen<T>();
    }
}

/// Bytes of T that mean something: all but padding.
template <class T>
constexpr std::size_t significant_bytes() noexcept {
    if constexpr (std::is_array_v<T> || (std::is_class_v<T> && ArrayLike<T>)) {
        return sizeof(T) / sizeof(Item<T>) * significant_bytes<Item<T>>();
    } else if constexpr (Listed<T> || (std::is_class_v<T> && Reflectable<T>)) {
        return kLayout<T>.bytes;
    } else {
        return sizeof(T);
    }
}
template <class T>
constexpr bool has_bools() noexcept {
    if constexpr (std::is_enum_v<T>) {
        return std::same_as<std::underlying_type_t<T>, bool>;
    } else if constexpr (std::is_array_v<T> || (std::is_class_v<T> && ArrayLike<T>)) {
        return has_bools<Item<T>>();
    } else if constexpr (std::is_class_v<T>) {
        return kLayout<T>.bools;
    } else {
        return std::same_as<T, bool>;
    }
}

template <class F>
constexpr void Layout::field() noexcept {
    if constexpr (is_element<F>()) {
        end = (end + alignof(F) - 1) / alignof(F) * alignof(F) + sizeof(F);
        bytes += significant_bytes<F>();
        bools = bools || has_bools<F>();
        exact = exact && (std::has_unique_object_representations_v<F> || significant_bytes<F>() < sizeof(F));
    } else {
        elements = false;
        pointers = pointers || std::is_pointer_v<F> || std::is_member_pointer_v<F>;
    }
}

/// Elements that may travel as their own bytes, and be viewed in a receive buffer.
template <class T>
concept Element = is_element<T>() && alignof(T) <= 8;
/// No padding in it: its bytes in memory are its bytes on the wire.
template <class T>
inline constexpr bool kDense = significant_bytes<T>() == sizeof(T);

} // namespace plexus::detail

namespace plexus {
template <detail::Element T>
class GlobalSpan;
}

namespace plexus::detail {

template <class T>
inline constexpr bool kRemoteSpan = false;
template <class T>
inline constexpr bool kRemoteSpan<GlobalSpan<T>> = true;

enum class Kind : std::uint8_t {
    // What can't be sent as it is comes first.
    pointer,
    long_double,
    unnamed,
    unseen,
    scalar,
    text,
    view,
    global_pointer,
    remote_span,
    plain,  ///< a trivially copyable struct: its bytes
    record, ///< listed fields, one after the other
    named,  ///< what cereal writes, by its name
    array,
    tuple,
    optional,
    variant,
    unique,
    shared,
    duration,
    time,
    complex,
    bitset,
    map,
    set,
    sequence,
    valarray,
    adaptor,
};

template <class T>
consteval Kind kind_of() noexcept {
    if constexpr (Scalar<T>) {
        return Kind::scalar;
    } else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_reference_v<T> ||
                         std::is_null_pointer_v<T>) {
        return Kind::pointer;
    } else if constexpr (std::is_array_v<T>) {
        return Kind::array;
    } else if constexpr (!std::is_class_v<T>) {
        return std::same_as<T, long double> ? Kind::long_double : Kind::unseen;
    } else if constexpr (kPointer<T>) {
        return Kind::global_pointer;
    } else if constexpr (kRemoteSpan<T>) {
        return Kind::remote_span;
    } else if constexpr (Listed<T>) {
        return is_element<T>() ? Kind::plain : Kind::record;
    } else if constexpr (Named<T> && Cerealised<T>) {
        return Kind::named;
    } else if constexpr (kText<T>) {
        return Kind::text;
    } else if constexpr (kView<T>) {
        return Kind::view;
    } else if constexpr (kUnique<T>) {
        return Kind::unique;
    } else if constexpr (kShared<T>) {
        return Kind::shared;
    } else if constexpr (kDuration<T>) {
        return Kind::duration;
    } else if constexpr (kTime<T>) {
        return Kind::time;
    } else if constexpr (ArrayLike<T>) {
        return Kind::array;
    } else if constexpr (TupleLike<T>) {
        return Kind::tuple;
    } else if constexpr (OptionalLike<T>) {
        return Kind::optional;
    } else if constexpr (VariantLike<T>) {
        return Kind::variant;
    } else if constexpr (ComplexLike<T>) {
        return Kind::complex;
    } else if constexpr (BitsetLike<T>) {
        return Kind::bitset;
    } else if constexpr (MapLike<T>) {
        return Kind::map;
    } else if constexpr (SetLike<T>) {
        return Kind::set;
    } else if constexpr (SequenceLike<T>) {
        return Kind::sequence;
    } else if constexpr (ValarrayLike<T>) {
        return Kind::valarray;
    } else if constexpr (AdaptorLike<T>) {
        return Kind::adaptor;
    } else if constexpr (Reflectable<T> && std::is_empty_v<T>) {
        return Kind::plain;
    } else if constexpr (Cerealised<T>) {
        return Kind::unnamed;
    } else if constexpr (is_element<T>()) {
        return Kind::plain;
    } else {
        return kLayout<T>.pointers ? Kind::pointer : Kind::unseen;
    }
}
template <class T>
inline constexpr Kind kKind = kind_of<T>();

template <class T>
struct RangeOf : std::false_type {};
template <class T>
requires Element<std::remove_const_t<T>>
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

/// Copies the fields of `value` to their places in `image`, which is all zero.
template <class T>
void copy_image(const T& value, std::byte* image) noexcept {
    if constexpr (kDense<T>) {
        std::memcpy(image, &value, sizeof value);
    } else if constexpr (std::is_array_v<T> || ArrayLike<T>) {
        for (const auto& item : value) {
            copy_image(item, image);
            image += sizeof item;
        }
    } else {
        visit_fields(value, [&](const auto& field) {
            const auto offset = reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&value);
            copy_image(field, image + offset);
        });
    }
}

/// True if every bool in these bytes of a T is 0 or 1.
template <class T>
bool bools_hold(const std::byte* bytes) noexcept {
    if constexpr (!has_bools<T>()) {
        return true;
    } else if constexpr (Scalar<T>) {
        return *bytes <= std::byte{1};
    } else if constexpr (std::is_array_v<T> || ArrayLike<T>) {
        for (std::size_t at = 0; at < sizeof(T); at += sizeof(Item<T>))
            if (!bools_hold<Item<T>>(bytes + at)) return false;
        return true;
    } else {
        static const T sample{}; // tells where the fields are
        bool hold = true;
        visit_fields(sample, [&]<class F>(const F& field) {
            const auto offset =
                reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&sample);
            hold = hold && bools_hold<F>(bytes + offset);
        });
        return hold;
    }
}

} // namespace plexus::detail
