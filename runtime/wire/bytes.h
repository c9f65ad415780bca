// SPDX-License-Identifier: BSD-3-Clause
// Bytes out and bytes in, field by field, little-endian. Pure; every read is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace plexus::wire {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

/// Writes into memory that is known to be large enough: the headers' encoder.
class Out {
  public:
    explicit Out(std::byte* at) noexcept
      : at_(at) {}
    void u8(std::uint8_t v) noexcept { put(v); }
    void u16(std::uint16_t v) noexcept { put(v); }
    void u32(std::uint32_t v) noexcept { put(v); }
    void u64(std::uint64_t v) noexcept { put(v); }
    void raw(const void* data, std::size_t size) noexcept {
        std::memcpy(at_, data, size);
        at_ += size;
    }

  private:
    template <class T>
    void put(T v) noexcept { // the only supported byte order is the wire's, see wire_type.h
        std::memcpy(at_, &v, sizeof v);
        at_ += sizeof v;
    }
    std::byte* at_;
};

/// Appends to a vector: for what is not on the way of a small message.
class Builder {
  public:
    explicit Builder(Bytes& to) noexcept
      : to_(to) {}
    void u8(std::uint8_t v) { put(v); }
    void u16(std::uint16_t v) { put(v); }
    void u32(std::uint32_t v) { put(v); }
    void u64(std::uint64_t v) { put(v); }
    void raw(const void* data, std::size_t size) {
        const std::size_t before = to_.size();
        to_.resize(before + size);
        if (size > 0) std::memcpy(to_.data() + before, data, size);
    }
    void text(std::string_view t) {
        u16(static_cast<std::uint16_t>(t.size()));
        raw(t.data(), t.size());
    }

  private:
    template <class T>
    void put(T v) {
        raw(&v, sizeof v);
    }
    Bytes& to_;
};

/// Reads; after a read past the end every field is zero and ok() is false.
class In {
  public:
    explicit In(View from) noexcept
      : from_(from) {}
    std::uint8_t u8() noexcept { return take<std::uint8_t>(); }
    std::uint16_t u16() noexcept { return take<std::uint16_t>(); }
    std::uint32_t u32() noexcept { return take<std::uint32_t>(); }
    std::uint64_t u64() noexcept { return take<std::uint64_t>(); }
    View raw(std::size_t size) noexcept {
        if (size > from_.size()) {
            ok_ = false;
            from_ = {};
            return {};
        }
        const View taken = from_.first(size);
        from_ = from_.subspan(size);
        return taken;
    }
    std::string_view text() noexcept {
        const View bytes = raw(u16());
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    View rest() const noexcept { return from_; }
    bool ok() const noexcept { return ok_; }

  private:
    template <class T>
    T take() noexcept {
        T v{};
        const View bytes = raw(sizeof v);
        if (!bytes.empty()) std::memcpy(&v, bytes.data(), sizeof v);
        return v;
    }
    View from_;
    bool ok_ = true;
};

} // namespace plexus::wire
