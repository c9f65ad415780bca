// SPDX-License-Identifier: BSD-3-Clause
// Memory that processes share by a descriptor. It is sealed: nobody can make it shorter, which would kill
// whoever reads it with SIGBUS. What others write to it may be anything.
#pragma once

#include "base/unique_fd.h"

#include <cstddef>
#include <limits>
#include <utility>

namespace plexus {

class SealedMemory {
  public:
    enum class Access { read, write };

    /// Maps nothing.
    SealedMemory() = default;
    SealedMemory(SealedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr))
      , size_(std::exchange(other.size_, 0)) {}
    SealedMemory& operator=(SealedMemory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~SealedMemory();

    /// New memory of zeros, for this user alone. `label` is what /proc shows. Maps nothing if there is none:
    /// errno says why.
    static SealedMemory create(const char* label, std::size_t bytes, UniqueFd& fd) noexcept;
    /// Another process's, of which the first `prefix` bytes are mapped. Maps nothing, with EINVAL, if the
    /// descriptor is not of such memory with `least` to `most` bytes: also for huge pages, since a reader is
    /// killed where the system has run out of them.
    static SealedMemory map(int fd, std::size_t least, std::size_t most, Access access = Access::write,
                            std::size_t prefix = std::numeric_limits<std::size_t>::max()) noexcept;

    explicit operator bool() const noexcept { return data_ != nullptr; }
    std::byte* data() const noexcept { return data_; }
    /// Bytes that are mapped.
    std::size_t size() const noexcept { return size_; }
    template <class T>
    T* at(std::size_t offset) const noexcept {
        return reinterpret_cast<T*>(data_ + offset);
    }

    /// Gives the pages back to the system. They are zeros from then on.
    void discard() noexcept;

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace plexus
