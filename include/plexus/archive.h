// SPDX-License-Identifier: BSD-3-Clause
// How arguments become bytes and bytes arguments. Little-endian, fixed widths; ranges are a
// 64-bit count and their elements, 8-byte aligned in the frame. Ranges are borrowed, not
// copied, on the way out. Every length is checked on the way in.
#pragma once

#include "plexus/export.h"
#include "plexus/wire_type.h"

#include <cereal/cereal.hpp>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace plexus::detail {

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

    template <class T>
    void put(const T& value) {
        if constexpr (Scalar<T>) {
            raw(&value, sizeof value);
        } else if constexpr (Range<T>) {
            const std::uint64_t count = value.size();
            align();
            raw(&count, sizeof count);
            const std::size_t bytes = value.size() * sizeof(*value.data());
            bytes <= kCopied ? raw(value.data(), bytes) : borrow(value.data(), bytes);
        } else {
            archive(value);
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
        if constexpr (std::same_as<T, bool>) {
            std::uint8_t byte;
            raw(&byte, 1);
            if (byte > 1) spoil();
            return byte == 1;
        } else if constexpr (Scalar<T>) {
            T value;
            raw(&value, sizeof value);
            return value;
        } else if constexpr (Range<T>) {
            return range<T>();
        } else {
            return archived<T>();
        }
    }

  private:
    template <class T>
    T range() {
        using Item = typename RangeOf<T>::Item;
        align();
        std::uint64_t count;
        raw(&count, sizeof count);
        if (count > left() / sizeof(Item)) {
            spoil();
            return T{};
        }
        const auto* items = reinterpret_cast<const Item*>(view(count * sizeof(Item)));
        if constexpr (requires {
                          requires RangeOf<T>::kView;
                          requires std::constructible_from<T, const Item*, std::size_t>;
                      }) {
            return T(items, count);
        } else {
            return T(items, items + count);
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

/// The cereal archives behind put() and get() of structured types.
class OutputArchive : public cereal::OutputArchive<OutputArchive, cereal::AllowEmptyClassElision> {
  public:
    explicit OutputArchive(Writer& writer)
      : cereal::OutputArchive<OutputArchive, cereal::AllowEmptyClassElision>(this)
      , writer_(writer) {}
    Writer& writer() noexcept { return writer_; }

  private:
    Writer& writer_;
};

class InputArchive : public cereal::InputArchive<InputArchive, cereal::AllowEmptyClassElision> {
  public:
    explicit InputArchive(Reader& reader)
      : cereal::InputArchive<InputArchive, cereal::AllowEmptyClassElision>(this)
      , reader_(reader) {}
    Reader& reader() noexcept { return reader_; }
    void check() const {
        if (!reader_.ok()) throw std::length_error("the archive is truncated");
    }

  private:
    Reader& reader_;
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
/// A container can't have more elements than the archive has bytes: nothing is allocated
/// on the word of a length alone.
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
