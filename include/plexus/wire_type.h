// SPDX-License-Identifier: BSD-3-Clause
// What a type is on the wire: a canonical text, the same under every compiler and standard
// library, and its 64-bit FNV-1a hash. Compile time only.
//
//   double                            f64
//   long, long long, std::int64_t     i64                     (kinds and widths, not names)
//   std::byte, an enum                its underlying type      (named: "colour:u8")
//   std::string, std::string_view     string
//   vector, list, deque, span         seq<f64>
//   std::array, an array field        array<f64,3>
//   map, unordered_map; set           map<string,i32>, multimap<…>; set<i32>, multiset<…>
//   pair, tuple                       tuple<i32,string>
//   optional, variant, unique_ptr     optional<i32>, variant<i32,string>, unique_ptr<…>
//   duration                          duration<i64,1/1000>
//   a plain struct                    struct(16,8){f64,u32*2}
//   with PLEXUS_FIELDS                struct(16,8){value:f64,station:u32}, record{name:string}
//   with serialize()                  legacy/1                 (the name it was given)
//   GlobalPointer; GlobalSpan         pointer; remote_span<f64>
#pragma once

#include "plexus/export.h"
#include "plexus/kinds.h"

namespace plexus::detail {

/// FNV-1a.
constexpr std::uint64_t mix(std::uint64_t hash, std::string_view text) noexcept {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return hash;
}
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((value >> shift) & 0xff)) * 0x100000001b3ull;
    return hash;
}
inline constexpr std::uint64_t kHashSeed = 0xcbf29ce484222325ull;

template <class T>
inline constexpr char kTypeTag = 0;

/// Takes the text of a type, or only measures and hashes it.
class Spelling {
  public:
    constexpr explicit Spelling(char* out = nullptr) noexcept
      : out_(out) {}

    constexpr void text(std::string_view text) noexcept {
        hash_ = mix(hash_, text);
        if (out_ != nullptr)
            for (const char c : text) *out_++ = c;
        size_ += text.size();
    }
    constexpr void number(std::uint64_t value) noexcept {
        char digits[20]{};
        std::size_t first = sizeof digits;
        do digits[--first] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        text({digits + first, sizeof digits - first});
    }
    constexpr void name(std::string_view name) {
        for (const char c : name)
            if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                  c == '_' || c == '-' || c == '/'))
                throw "a name on the wire has letters, digits and . _ - / only";
        if (name.empty()) throw "a name on the wire is not empty";
        text(name);
    }
    /// Enters a type that may contain itself; false, with the text "^n", inside that very type.
    constexpr bool enter(const char* tag) noexcept {
        for (std::size_t i = 0; i < depth_ && i < kMostNested; ++i) {
            if (open_[i] != tag) continue;
            text("^");
            number(depth_ - i);
            return false;
        }
        if (depth_ < kMostNested) open_[depth_] = tag;
        ++depth_;
        return true;
    }
    constexpr void leave() noexcept { --depth_; }

    constexpr std::uint64_t hash() const noexcept { return hash_; }
    constexpr std::size_t size() const noexcept { return size_; }

  private:
    static constexpr std::size_t kMostNested = 32;
    char* out_;
    std::size_t size_ = 0;
    std::uint64_t hash_ = kHashSeed;
    const char* open_[kMostNested]{};
    std::size_t depth_ = 0;
};

template <class T>
constexpr void spell(Spelling& out);

/// "f64,u32*2": equal neighbours are counted, so that an array is as its elements.
struct FieldSpelling {
    Spelling& out;
    std::uint64_t last = 0;
    std::size_t count = 0;
    template <class F>
    constexpr void field() {
        Spelling type;
        spell<F>(type);
        if (last == type.hash()) {
            ++count;
            return;
        }
        end_run();
        if (last != 0) out.text(",");
        spell<F>(out);
        last = type.hash();
        count = 1;
    }
    constexpr void end_run() noexcept {
        if (count <= 1) return;
        out.text("*");
        out.number(count);
    }
};

template <class T>
constexpr void spell_scalar(Spelling& out) {
    if constexpr (std::same_as<T, bool>) {
        out.text("bool");
    } else if constexpr (std::same_as<T, char>) {
        out.text("char"); // signed or not, it is text
    } else if constexpr (std::same_as<T, char8_t> || std::same_as<T, char16_t> || std::same_as<T, char32_t>) {
        out.text("char");
        out.number(sizeof(T) * 8);
    } else if constexpr (std::same_as<T, wchar_t>) {
        out.text("wchar");
        out.number(sizeof(T) * 8);
    } else {
        out.text(std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u");
        out.number(sizeof(T) * 8);
    }
}

template <class... T>
constexpr void spell_list(Spelling& out, std::string_view open) {
    out.text(open);
    std::size_t at = 0;
    ((at++ != 0 ? out.text(",") : void(), spell<T>(out)), ...);
    out.text(">");
}
template <template <class...> class Template, class... T>
constexpr void spell_arguments(Spelling& out, std::string_view open, std::type_identity<Template<T...>>) {
    spell_list<T...>(out, open);
}

template <class T>
constexpr void spell_span(Spelling& out, std::type_identity<GlobalSpan<T>>) {
    spell_list<std::remove_const_t<T>>(out, "remote_span<");
}

template <class T>
constexpr void spell_struct(Spelling& out) {
    if constexpr (kKind<T> == Kind::plain) {
        out.text("struct(");
        out.number(sizeof(T));
        out.text(",");
        out.number(alignof(T));
        out.text("){");
    } else {
        out.text("record{");
    }
    if constexpr (Listed<T>) {
        std::apply(
            [&]<class... Owner, class... F>(const NamedField<Owner, F>&... field) {
                std::size_t at = 0;
                ((at++ != 0 ? out.text(",") : void(), out.text(field.name), out.text(":"), spell<F>(out)),
                 ...);
            },
            plexus_fields(std::type_identity<T>{}));
    } else {
        FieldSpelling fields{out};
        visit_field_types<T>(fields);
        fields.end_run();
    }
    out.text("}");
}

template <class T>
constexpr void spell_class(Spelling& out) {
    constexpr Kind kKindOf = kKind<T>;
    if constexpr (kKindOf == Kind::plain || kKindOf == Kind::record) {
        spell_struct<T>(out);
    } else if constexpr (kKindOf == Kind::text) {
        out.text("string");
        if constexpr (!std::same_as<Item<T>, char>) spell_list<Item<T>>(out, "<");
    } else if constexpr (kKindOf == Kind::array) {
        out.text("array<");
        spell<Item<T>>(out);
        out.text(",");
        out.number(sizeof(T) / sizeof(Item<T>));
        out.text(">");
    } else if constexpr (kKindOf == Kind::tuple) {
        spell_arguments(out, "tuple<", std::type_identity<T>{});
    } else if constexpr (kKindOf == Kind::variant) {
        spell_arguments(out, "variant<", std::type_identity<T>{});
    } else if constexpr (kKindOf == Kind::optional) {
        spell_list<Item<T>>(out, "optional<");
    } else if constexpr (kKindOf == Kind::unique) {
        spell_list<std::remove_const_t<typename T::element_type>>(out, "unique_ptr<");
    } else if constexpr (kKindOf == Kind::shared) {
        spell_list<std::remove_const_t<typename T::element_type>>(out, "shared_ptr<");
    } else if constexpr (kKindOf == Kind::duration) {
        out.text("duration<");
        spell<typename T::rep>(out);
        out.text(",");
        out.number(static_cast<std::uint64_t>(T::period::num));
        out.text("/");
        out.number(static_cast<std::uint64_t>(T::period::den));
        out.text(">");
    } else if constexpr (kKindOf == Kind::time) {
        spell_list<typename T::duration>(out, T::clock::is_steady ? "steady_time<" : "time<");
    } else if constexpr (kKindOf == Kind::complex) {
        spell_list<Item<T>>(out, "complex<");
    } else if constexpr (kKindOf == Kind::bitset) {
        out.text("bitset<");
        out.number(T{}.size());
        out.text(">");
    } else if constexpr (kKindOf == Kind::map) {
        spell_list<typename T::key_type, typename T::mapped_type>(out, UniqueKeys<T> ? "map<" : "multimap<");
    } else if constexpr (kKindOf == Kind::set) {
        spell_list<typename T::key_type>(out, UniqueKeys<T> ? "set<" : "multiset<");
    } else if constexpr (kKindOf == Kind::sequence || kKindOf == Kind::valarray) {
        spell_list<Item<T>>(out, "seq<");
    } else if constexpr (kKindOf == Kind::adaptor) {
        spell_list<typename T::container_type>(out, "adaptor<");
    } else if constexpr (kKindOf == Kind::remote_span) {
        spell_span(out, std::type_identity<T>{});
    }
}

template <class T>
constexpr void spell(Spelling& out) {
    constexpr Kind kKindOf = kKind<T>;
    static_assert(kKindOf != Kind::pointer,
                  "plexus: a pointer means nothing to another process: send what it "
                  "points to, a std::unique_ptr, or a plexus::GlobalPointer");
    static_assert(kKindOf != Kind::long_double,
                  "plexus: long double is another type on every machine: send double");
    static_assert(kKindOf != Kind::view,
                  "plexus: a std::span or std::string_view inside another type can't be "
                  "sent: use std::vector or std::string there");
    static_assert(
        kKindOf != Kind::unnamed,
        "plexus: a type with serialize() needs a name on the wire: write PLEXUS_NAME(Type, \"name\") "
        "after it in its namespace, or list its fields: PLEXUS_FIELDS(Type, a, b)");
    static_assert(
        kKindOf != Kind::unseen,
        "plexus: the fields of this type can't be seen: write PLEXUS_FIELDS(Type, a, b) after it in "
        "its namespace, or in the class after `friend` if they are private");
    if constexpr (kKindOf == Kind::global_pointer) {
        out.text("pointer");
    } else if constexpr (kKindOf == Kind::scalar) {
        if constexpr (Named<T>) {
            out.name(plexus_name(std::type_identity<T>{}));
            out.text(":");
        }
        if constexpr (std::is_enum_v<T>) {
            spell_scalar<std::underlying_type_t<T>>(out);
        } else {
            spell_scalar<T>(out);
        }
    } else if constexpr (kKindOf > Kind::scalar && kKindOf != Kind::view) {
        if constexpr (Named<T>) out.name(plexus_name(std::type_identity<T>{}));
        if constexpr (kKindOf != Kind::named) {
            if constexpr (Named<T>) out.text(":");
            if (!out.enter(&kTypeTag<T>)) return;
            spell_class<T>(out);
            out.leave();
        }
    }
}

/// The same for an argument or a result itself: there a view is what it shows.
template <class T>
constexpr void spell_argument(Spelling& out) {
    if constexpr (std::same_as<T, void>) {
        out.text("void");
    } else if constexpr (kKind<T> != Kind::view) {
        spell<T>(out);
    } else if constexpr (std::same_as<T, std::string_view>) {
        out.text("string");
    } else {
        static_assert(Range<T>, "plexus: a view's elements have to be plain: numbers, enums, or trivially "
                                "copyable structs without serialize(); else send a std::vector");
        spell_list<std::remove_const_t<typename T::element_type>>(out, "seq<");
    }
}

/// Do not compile where T can't be sent, for the one reason that its request has given.
template <class T>
void check_argument() {
    Spelling out;
    spell_argument<T>(out);
}
template <class T>
void check_type() {
    Spelling out;
    spell<T>(out);
}

template <class T>
constexpr std::uint64_t wire_type() {
    Spelling out;
    spell_argument<T>(out);
    return out.hash();
}

/// "f64(i32,seq<f64>)": results and parameters of a request.
template <class R, class... P>
constexpr void spell_signature(Spelling& out) {
    static_assert(!kView<R>, "plexus: a request can't return a view: return a std::vector or std::string");
    spell_argument<R>(out);
    out.text("(");
    std::size_t at = 0;
    ((at++ != 0 ? out.text(",") : void(), spell_argument<std::remove_cvref_t<P>>(out)), ...);
    out.text(")");
}
template <class R, class... P>
struct Signature {
    static constexpr std::size_t kSize = [] {
        Spelling out;
        spell_signature<R, P...>(out);
        return out.size();
    }();
    static constexpr auto kText = [] {
        std::array<char, kSize> text{};
        Spelling out(text.data());
        spell_signature<R, P...>(out);
        return text;
    }();
    static constexpr std::string_view text() noexcept { return {kText.data(), kText.size()}; }
    static constexpr std::uint64_t hash() noexcept { return mix(kHashSeed, text()); }
};

/// The type's name as the compiler prints it: for this process only.
template <class T>
constexpr std::string_view type_name() noexcept {
    constexpr std::string_view whole = __PRETTY_FUNCTION__;
    constexpr std::size_t start = whole.find("T = ") + 4;
    return whole.substr(start, whole.find_first_of(";]", start) - start);
}

constexpr bool has_own_name(std::string_view type) noexcept {
    for (const std::string_view part : {"anonymous", "unnamed", "lambda", ")"})
        if (type.find(part) != std::string_view::npos) return false;
    return type.find("::") != std::string_view::npos;
}

/// Which type an object that is bound here has, in this process: it is compared with that of the
/// handler and never travels. Works for incomplete, local and unnamed types.
template <class T>
std::uint64_t object_type() noexcept {
    // A name in a namespace is the same in every shared object. What other types may be called
    // too is told by its address.
    constexpr std::string_view kName = type_name<T>();
    if constexpr (has_own_name(kName)) {
        return mix(kHashSeed, kName);
    } else {
        return reinterpret_cast<std::uintptr_t>(&kTypeTag<T>);
    }
}

} // namespace plexus::detail
