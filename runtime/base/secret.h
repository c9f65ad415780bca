// SPDX-License-Identifier: BSD-3-Clause
// Bytes that nobody shall find in a core file, nor in memory that was given back: they lie on a page of their
// own, which the kernel leaves out of core files (MADV_DONTDUMP) and which is wiped at the end. Each object
// takes a page: for a few keys that live long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace plexus {

/// Overwrites memory that held a secret. No compiler leaves it out.
void wipe(void* memory, std::size_t bytes) noexcept;

/// Memory of that kind, zeros at first.
class SecretMemory {
  public:
    /// Throws std::bad_alloc.
    explicit SecretMemory(std::size_t bytes);
    ~SecretMemory();
    SecretMemory(const SecretMemory&) = delete;
    SecretMemory& operator=(const SecretMemory&) = delete;

    std::uint8_t* data() const noexcept { return data_; }

  private:
    std::uint8_t* const data_;
    const std::size_t bytes_;
};

/// A secret of `Size` bytes. A copy throws std::bad_alloc if there is no page.
template <std::size_t Size>
class Secret {
  public:
    Secret()
      : memory_(Size) {}
    /// Takes the bytes over: `from` is wiped.
    explicit Secret(std::array<std::uint8_t, Size>&& from)
      : Secret() {
        assign(from);
        wipe(from.data(), Size);
    }
    Secret(const Secret& other)
      : Secret() {
        assign(other);
    }
    Secret& operator=(const Secret& other) noexcept {
        assign(other);
        return *this;
    }
    ~Secret() = default;

    static constexpr std::size_t size() noexcept { return Size; }
    std::uint8_t* data() noexcept { return memory_.data(); }
    const std::uint8_t* data() const noexcept { return memory_.data(); }
    std::uint8_t* begin() noexcept { return data(); }
    std::uint8_t* end() noexcept { return data() + Size; }
    const std::uint8_t* begin() const noexcept { return data(); }
    const std::uint8_t* end() const noexcept { return data() + Size; }
    std::uint8_t& operator[](std::size_t at) noexcept { return data()[at]; }
    std::uint8_t operator[](std::size_t at) const noexcept { return data()[at]; }

    /// In constant time: how far two secrets agree is a secret.
    bool operator==(const Secret& other) const noexcept {
        unsigned difference = 0;
        for (std::size_t i = 0; i < Size; ++i) difference |= data()[i] ^ unsigned { other.data()[i] };
        return difference == 0;
    }

  private:
    template <class Bytes>
    void assign(const Bytes& from) noexcept {
        for (std::size_t i = 0; i < Size; ++i) data()[i] = from[i];
    }

    SecretMemory memory_;
};

} // namespace plexus
