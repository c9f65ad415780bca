// SPDX-License-Identifier: BSD-3-Clause
// How arguments become bytes and bytes arguments. Little-endian, fixed widths; sequences are a
// 64-bit count and their elements, 8-byte aligned in the frame where they are an argument
// themselves. Plain structs are their bytes in memory with zeros in the padding. Ranges of plain
// elements without padding are borrowed, not copied, on the way out. Every length is checked on
// the way in, and memory is taken for what has arrived, not for what was announced.
#pragma once

#include "plexus/export.h"
#include "plexus/wire_type.h"

#include <cereal/cereal.hpp>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace plexus::detail {

/// An argument that is no view and has an identity.
template <class T>
inline constexpr bool kSendable = kKind<T> >= Kind::scalar&& kKind<T> != Kind::view;

/// Sequences, maps and sets: they begin with a count.
template <class T>
inline constexpr bool kCounted = kKind<T> == Kind::text || kKind<T> == Kind::map || kKind<T> == Kind::set ||
                                 kKind<T> == Kind::sequence || kKind<T> == Kind::valarray;

template <class T>
inline constexpr bool kWeak = false;
template <class T>
inline constexpr bool kWeak<std::weak_ptr<T>> =
    !std::is_polymorphic_v<T> && std::is_default_constructible_v<T>;

template <class T>
inline constexpr bool kIsPair = false;
template <class T>
inline constexpr bool kIsPair<cereal::NameValuePair<T>> = true;

/// What a std::unique_ptr owns can be made without cereal's help.
template <class T>
concept OwnedPlainly = std::is_default_constructible_v<typename T::element_type> &&
                       !std::is_polymorphic_v<typename T::element_type> &&
                       !std::is_array_v<typename T::element_type>;

class Channel; // the communication object that a frame leaves or came by
class Route;   // how a pointer reaches its context

/// A run of bytes of a frame; the layout of the module ABI's plexus_view.
struct Piece {
    const void* data;
    std::size_t size;
};

/// Builds one frame: a head of at most 64 bytes on the stack, then pieces, borrowed or in
/// `spill`. Not thread-safe; lives on the stack of one call.
class Writer {
  public:
    static constexpr std::size_t kHead = 64;
    static constexpr std::size_t kPieces = 16;
    /// Ranges up to this size are copied: a piece of its own would cost more.
    static constexpr std::size_t kCopied = 256;

    /// Leaves `reserved` bytes at the start of the head to whoever sends.
    explicit Writer(std::size_t reserved) noexcept
      : used_(reserved)
      , total_(reserved) {}
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void raw(const void* data, std::size_t size) {
        if (size == 0) return; // an empty range may have no address
        if (pieces_ == 0 && size <= kHead && used_ <= kHead - size) {
            std::memcpy(head_ + used_, data, size);
            used_ += size;
            total_ += size;
        } else {
            spill(data, size);
        }
    }
    /// Refers to bytes that stay valid until the frame was sent.
    PLEXUS_API void borrow(const void* data, std::size_t size);
    void align() {
        constexpr std::byte zeros[8]{};
        if (const std::size_t odd = total_ % 8; odd != 0) raw(zeros, 8 - odd);
    }

    /// One argument or result. @error bad_argument values are nested too deep (thrown)
    template <class T>
    void put(const T& value) {
        if constexpr (Scalar<T>) {
            raw(&value, sizeof value);
        } else if constexpr (Range<T>) {
            align();
            put_range(value.data(), value.size());
        } else if constexpr (kSendable<T>) {
            if constexpr (kCounted<T>) align();
            archive(value);
        } else {
            check_argument<T>();
        }
    }
    /// A count, then the elements' bytes.
    template <Element T>
    void put_range(const T* items, std::size_t size) {
        const std::uint64_t count = size;
        raw(&count, sizeof count);
        if constexpr (kDense<T>) {
            const std::size_t bytes = size * sizeof(T);
            bytes <= kCopied ? raw(items, bytes) : borrow(items, bytes);
        } else {
            for (std::size_t i = 0; i < size; ++i) put_image(items[i]);
        }
    }
    /// The bytes of a plain value, zeros in the padding.
    template <class T>
    void put_image(const T& value) {
        if constexpr (kDense<T>) {
            raw(&value, sizeof value);
        } else {
            std::byte image[sizeof(T)]{};
            copy_image(value, image);
            raw(image, sizeof image);
        }
    }

    /// Copies what was borrowed: the lender ends before the frame is sent. A result of some
    /// size pays one copy for that.
    PLEXUS_API void own();

    std::byte* head() noexcept { return head_; }
    /// All of the frame is in the head, and refers to nothing else.
    bool fits_head() const noexcept { return pieces_ == 0 && carried_.empty(); }
    std::size_t total() const noexcept { return total_; }
    /// A global pointer among the arguments: whoever gets the frame must know its table, so
    /// the sender makes sure of that first. `route` outlives the writer.
    void carry(const Route* route) { carried_.push_back(route); }
    std::span<const Route* const> carried() const noexcept { return carried_; }
    /// The finished frame as pieces, the head first; valid until the next change. `out`
    /// has room for kPieces + 1.
    PLEXUS_API std::uint32_t finish(Piece* out) const noexcept;
    /// The finished frame as one run.
    PLEXUS_API std::vector<std::byte> bytes() const;

  private:
    template <class T>
    void archive(const T& value);
    PLEXUS_API void spill(const void* data, std::size_t size);

    // `data` is null where the piece is the next run of spill_: that may still move.
    std::size_t used_;
    std::size_t total_;
    std::uint32_t pieces_ = 0;
    alignas(8) std::byte head_[kHead];
    Piece piece_[kPieces];
    std::vector<std::byte> spill_;
    std::vector<const Route*> carried_;
};

/// Reads one frame. After a read past the end every further read gives zeros and ok() is
/// false: callers check once, at the end. Not thread-safe.
class Reader {
  public:
    Reader(Channel* channel, const std::byte* frame, std::size_t size, std::size_t skip) noexcept
      : begin_(frame)
      , at_(frame + skip)
      , end_(frame + size)
      , channel_(channel) {}

    bool ok() const noexcept { return ok_; }
    void spoil() noexcept {
        ok_ = false;
        at_ = end_;
    }
    std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    Channel* channel() const noexcept { return channel_; }

    void raw(void* out, std::size_t size) noexcept {
        if (size == 0) return; // an empty container may have no address
        if (size > left()) {
            spoil();
            std::memset(out, 0, size);
            return;
        }
        std::memcpy(out, at_, size);
        at_ += size;
    }
    /// The next `size` bytes in place, or null.
    const std::byte* view(std::size_t size) noexcept {
        if (size > left()) {
            spoil();
            return nullptr;
        }
        const std::byte* here = at_;
        at_ += size;
        return here;
    }
    void align() noexcept {
        if (const auto odd = static_cast<std::size_t>(at_ - begin_) % 8; odd != 0) view(8 - odd);
    }

    template <class T>
    T get() {
        if constexpr (Scalar<T> || (is_element<T>() && !Range<T>)) {
            T value;
            image(value);
            return value;
        } else if constexpr (Range<T>) {
            return range<T>();
        } else if constexpr (kSendable<T>) {
            if constexpr (kCounted<T>) align();
            return archived<T>();
        } else {
            check_argument<T>();
        }
    }
    /// The bytes of a plain value; all zero, and ok() false, if they are none.
    template <class T>
    void image(T& value) noexcept {
        if constexpr (has_bools<T>()) {
            alignas(T) std::byte bytes[sizeof(T)];
            raw(bytes, sizeof bytes);
            if (!bools_hold<T>(bytes)) {
                spoil();
                std::memset(bytes, 0, sizeof bytes);
            }
            std::memcpy(&value, bytes, sizeof bytes);
        } else {
            raw(&value, sizeof value);
        }
    }
    /// The next `count` elements in place, where they can be viewed; null and ok() false if
    /// they are not all there.
    template <Element T>
    const T* items(std::uint64_t count) noexcept {
        if (count > left() / sizeof(T)) {
            spoil();
            return nullptr;
        }
        const std::byte* bytes = view(count * sizeof(T));
        if constexpr (has_bools<T>())
            for (std::uint64_t i = 0; i < count; ++i)
                if (!bools_hold<T>(bytes + i * sizeof(T))) {
                    spoil();
                    return nullptr;
                }
        return reinterpret_cast<const T*>(bytes);
    }

  private:
    template <class T>
    T range() {
        using Item = typename RangeOf<T>::Item;
        align();
        std::uint64_t count;
        raw(&count, sizeof count);
        const Item* const found = items<Item>(count);
        // A frame begins at a multiple of eight. Elements of one that does not can't be viewed.
        if (reinterpret_cast<std::uintptr_t>(found) % alignof(Item) != 0) spoil();
        if (!ok_) return T{};
        if constexpr (requires {
                          requires RangeOf<T>::kView;
                          requires std::constructible_from<T, const Item*, std::size_t>;
                      }) {
            return T(found, count);
        } else {
            return T(found, found + count);
        }
    }
    template <class T>
    T archived();

    const std::byte* begin_;
    const std::byte* at_;
    const std::byte* end_;
    Channel* channel_;
    bool ok_ = true;
};

/// How deep values of structured types may contain each other: lists and trees of
/// std::unique_ptr have at most as many levels. Each takes some hundred bytes of stack.
inline constexpr int kMostLevels = 500;

/// In the number of an object that several std::shared_ptr own: the object follows.
inline constexpr std::uint32_t kFirstTime = std::uint32_t{1} << 31;

/// One level of it.
class Level {
  public:
    explicit Level(int& levels)
      : levels_(levels) {
        if (levels_ == kMostLevels) refuse();
        ++levels_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --levels_; }

  private:
    [[noreturn]] PLEXUS_API static void refuse();
    int& levels_;
};

/// What is written here and not by cereal's functions: plain data, listed fields, and the
/// containers, which cereal would resize to any length that it is told.
template <class T>
inline constexpr bool kOwnCode = [] {
    switch (kKind<T>) {
    case Kind::record:
    case Kind::array:
    case Kind::tuple:
    case Kind::optional:
        return true;
    case Kind::unique:
    case Kind::shared:
        return requires { requires OwnedPlainly<T>; };
    default:
        return kCounted<T> || is_element<T>();
    }
}();

/// The cereal archives behind put() and get() of structured types. A user's
/// serialize() calls them with values of any type; types that they do not know are left to cereal.
class OutputArchive : public cereal::OutputArchive<OutputArchive, cereal::AllowEmptyClassElision> {
    using Base = cereal::OutputArchive<OutputArchive, cereal::AllowEmptyClassElision>;

  public:
    explicit OutputArchive(Writer& writer)
      : Base(this)
      , writer_(writer) {}
    Writer& writer() noexcept { return writer_; }

    template <class... T>
    OutputArchive& operator()(T&&... values) {
        (put(values), ...);
        return *this;
    }
    template <class T>
    OutputArchive& operator&(T&& value) {
        return (*this)(value);
    }
    template <class T>
    OutputArchive& operator<<(T&& value) {
        return (*this)(value);
    }

  private:
    template <class T>
    void put(const T& value);
    template <class T>
    void put_own(const T& value);
    void put_count(std::uint64_t count) { writer_.raw(&count, sizeof count); }

    Writer& writer_;
    int levels_ = 0;
};

class InputArchive : public cereal::InputArchive<InputArchive, cereal::AllowEmptyClassElision> {
    using Base = cereal::InputArchive<InputArchive, cereal::AllowEmptyClassElision>;

  public:
    explicit InputArchive(Reader& reader)
      : Base(this)
      , reader_(reader) {}
    Reader& reader() noexcept { return reader_; }
    void check() const {
        if (!reader_.ok()) throw std::length_error("the archive is truncated");
    }

    template <class... T>
    InputArchive& operator()(T&&... values) {
        (get(values), ...);
        return *this;
    }
    template <class T>
    InputArchive& operator&(T&& value) {
        return (*this)(value);
    }
    template <class T>
    InputArchive& operator>>(T&& value) {
        return (*this)(value);
    }

  private:
    template <class T>
    void get(T& value);
    template <class T>
    void get_own(T& value);
    template <class T>
    void get_items(T& value);
    template <class T>
    void get_shared(std::shared_ptr<T>& value, bool weak);
    /// A container can't have more elements than the archive has bytes.
    std::uint64_t get_count() {
        const auto count = reader_.get<std::uint64_t>();
        if (count > reader_.left()) reader_.spoil();
        check();
        return count;
    }

    struct Shared {
        const char* type;
        std::shared_ptr<void> object;
        bool whole = false;
    };
    Reader& reader_;
    int levels_ = 0;
    std::unordered_map<std::uint32_t, Shared> shared_;
};

template <Scalar T>
void CEREAL_SAVE_FUNCTION_NAME(OutputArchive& archive, const T& value) {
    archive.writer().put(value);
}
template <Scalar T>
void CEREAL_LOAD_FUNCTION_NAME(InputArchive& archive, T& value) {
    value = archive.reader().get<T>();
    archive.check();
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(OutputArchive& archive, cereal::NameValuePair<T>& pair) {
    archive(pair.value);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(InputArchive& archive, cereal::NameValuePair<T>& pair) {
    archive(pair.value);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(OutputArchive& archive, const cereal::SizeTag<T>& tag) {
    archive.writer().put(static_cast<std::uint64_t>(tag.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(InputArchive& archive, cereal::SizeTag<T>& tag) {
    const auto count = archive.reader().get<std::uint64_t>();
    if (count > archive.reader().left()) archive.reader().spoil();
    archive.check();
    tag.size = static_cast<std::remove_cvref_t<decltype(tag.size)>>(count);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(OutputArchive& archive, const cereal::BinaryData<T>& data) {
    archive.writer().raw(data.data, static_cast<std::size_t>(data.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(InputArchive& archive, cereal::BinaryData<T>& data) {
    archive.reader().raw(data.data, static_cast<std::size_t>(data.size));
    archive.check();
}

template <class T>
void OutputArchive::put(const T& value) {
    if constexpr (kOwnCode<T>) {
        put_own(value);
    } else if constexpr (kIsPair<T>) {
        put(value.value);
    } else if constexpr (kWeak<T>) {
        put(value.lock());
    } else if constexpr (kKind<T> == Kind::view || kKind<T> == Kind::pointer ||
                         kKind<T> == Kind::long_double) {
        check_type<T>();
    } else if constexpr (Cerealised<T>) {
        const Level level(levels_);
        Base::operator()(value);
    } else {
        Base::operator()(value);
    }
}

template <class T>
void OutputArchive::put_own(const T& value) {
    if constexpr (is_element<T>()) {
        writer_.put_image(value);
    } else if constexpr (kKind<T> == Kind::record) {
        const Level level(levels_);
        visit_fields(value, [this](const auto& field) { this->put(field); });
    } else if constexpr (kKind<T> == Kind::array) {
        for (const auto& item : value) put(item);
    } else if constexpr (kKind<T> == Kind::tuple) {
        std::apply([this](const auto&... item) { (this->put(item), ...); }, value);
    } else if constexpr (kKind<T> == Kind::optional) {
        put(!value.has_value());
        if (value.has_value()) put(*value);
    } else if constexpr (kKind<T> == Kind::unique) {
        put(std::uint8_t{value != nullptr});
        if (value != nullptr) put(*value);
    } else if constexpr (kKind<T> == Kind::shared) {
        const std::uint32_t number = this->registerSharedPointer(value);
        put(number);
        if ((number & kFirstTime) != 0) put(*value);
    } else if constexpr (kKind<T> == Kind::map) {
        put_count(value.size());
        for (const auto& [key, mapped] : value) {
            put(key);
            put(mapped);
        }
    } else if constexpr (requires {
                             requires Element<Item<T>>;
                             value.data();
                         }) {
        put_count(value.size());
        if constexpr (kDense<Item<T>>) {
            writer_.raw(value.data(), value.size() * sizeof(Item<T>));
        } else {
            for (const auto& item : value) writer_.put_image(item);
        }
    } else {
        if constexpr (ForwardList<T>) {
            put_count(static_cast<std::uint64_t>(std::distance(value.begin(), value.end())));
        } else {
            put_count(value.size());
        }
        if constexpr (kKind<T> == Kind::valarray) {
            for (std::size_t i = 0; i < value.size(); ++i) put(value[i]);
        } else {
            for (const Item<T>& item : value) put(item);
        }
    }
}

template <class T>
void InputArchive::get(T& value) {
    if constexpr (kOwnCode<T>) {
        get_own(value);
    } else if constexpr (kIsPair<T>) {
        get(value.value);
    } else if constexpr (kWeak<T>) {
        std::shared_ptr<typename T::element_type> owner;
        get_shared(owner, true);
        value = owner;
    } else if constexpr (kKind<T> == Kind::view || kKind<T> == Kind::pointer ||
                         kKind<T> == Kind::long_double) {
        check_type<T>();
    } else if constexpr (Cerealised<T>) {
        const Level level(levels_);
        Base::operator()(value);
    } else {
        Base::operator()(value);
    }
}

template <class T>
void InputArchive::get_own(T& value) {
    if constexpr (is_element<T>()) {
        reader_.image(value);
        check();
    } else if constexpr (kKind<T> == Kind::record) {
        const Level level(levels_);
        visit_fields(value, [this](auto& field) { this->get(field); });
    } else if constexpr (kKind<T> == Kind::array) {
        for (auto& item : value) get(item);
    } else if constexpr (kKind<T> == Kind::tuple) {
        std::apply([this](auto&... item) { (this->get(item), ...); }, value);
    } else if constexpr (kKind<T> == Kind::optional) {
        bool empty = false;
        get(empty);
        if (empty) {
            value.reset();
        } else {
            get(value.emplace());
        }
    } else if constexpr (kKind<T> == Kind::unique) {
        std::uint8_t there = 0;
        get(there);
        value.reset(there != 0 ? new std::remove_const_t<typename T::element_type>() : nullptr);
        if (there != 0) get(const_cast<std::remove_const_t<typename T::element_type>&>(*value));
    } else if constexpr (kKind<T> == Kind::shared) {
        get_shared(value, false);
    } else {
        get_items(value);
    }
}

/// A number alone could name an object of any type, and one that owns itself would never end.
template <class T>
void InputArchive::get_shared(std::shared_ptr<T>& value, bool weak) {
    using Object = std::remove_const_t<T>;
    std::uint32_t number = 0;
    get(number);
    value.reset();
    if (number == 0) return;
    if ((number & kFirstTime) != 0) {
        const auto made = std::make_shared<Object>();
        if (!shared_.try_emplace(number & ~kFirstTime, Shared{&kTypeTag<Object>, made}).second)
            throw std::length_error("two shared objects of one number");
        get(*made);
        shared_.at(number & ~kFirstTime).whole = true;
        value = made;
        return;
    }
    const auto known = shared_.find(number);
    if (known == shared_.end() || known->second.type != &kTypeTag<Object>)
        throw std::length_error("shared with an object that is none of this type");
    if (!known->second.whole && !weak) throw std::length_error("an object owns itself");
    value = std::static_pointer_cast<Object>(known->second.object);
}

/// Elements are made one by one as they arrive: an announced length alone takes no memory.
template <class T>
void InputArchive::get_items(T& value) {
    std::uint64_t count = get_count();
    if constexpr (kKind<T> == Kind::map) {
        value.clear();
        for (; count > 0; --count) {
            typename T::key_type key{};
            typename T::mapped_type mapped{};
            get(key);
            get(mapped);
            value.emplace_hint(value.end(), std::move(key), std::move(mapped));
        }
    } else if constexpr (kKind<T> == Kind::set) {
        value.clear();
        for (; count > 0; --count) {
            typename T::key_type key{};
            get(key);
            value.emplace_hint(value.end(), std::move(key));
        }
    } else if constexpr (requires {
                             requires Element<Item<T>>;
                             value.resize(count);
                             value.data();
                         }) {
        const std::byte* const bytes = reinterpret_cast<const std::byte*>(reader_.items<Item<T>>(count));
        check();
        value.resize(count);
        if (count != 0) std::memcpy(value.data(), bytes, count * sizeof(Item<T>));
    } else if constexpr (kKind<T> == Kind::valarray) {
        std::vector<Item<T>> items;
        for (; count > 0; --count) get(items.emplace_back());
        value = T(items.data(), items.size());
    } else if constexpr (ForwardList<T>) {
        value.clear();
        for (auto last = value.before_begin(); count > 0; --count) {
            last = value.emplace_after(last);
            get(*last);
        }
    } else if constexpr (std::same_as<Item<T>, bool>) { // std::vector<bool> has no elements to refer to
        value.clear();
        for (; count > 0; --count) value.push_back(reader_.get<bool>());
        check();
    } else {
        value.clear();
        for (; count > 0; --count) get(value.emplace_back());
    }
}

template <class T>
void Writer::archive(const T& value) {
    OutputArchive out(*this);
    out(value);
}

template <class T>
T Reader::archived() {
    T value{};
    try {
        InputArchive in(*this);
        in(value);
    } catch (const std::exception&) { // cereal's own complaints and allocation failures
        spoil();
    }
    return value;
}

} // namespace plexus::detail

CEREAL_REGISTER_ARCHIVE(plexus::detail::OutputArchive)
CEREAL_REGISTER_ARCHIVE(plexus::detail::InputArchive)
CEREAL_SETUP_ARCHIVE_TRAITS(plexus::detail::InputArchive, plexus::detail::OutputArchive)
