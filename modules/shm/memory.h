// SPDX-License-Identifier: BSD-3-Clause
// Anonymous shared memory: has no name, belongs to whoever holds it, and is gone when the
// last holder is, however that ends. Its size is sealed, so a peer can't cut it short under
// a reader (which would kill the reader with SIGBUS).
#pragma once

#include "common/owned_fd.h"

#include <cstddef>
#include <utility>

namespace plexus::shm {

class SharedMemory {
  public:
    SharedMemory() = default;
    SharedMemory(SharedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr))
      , size_(std::exchange(other.size_, 0)) {}
    SharedMemory& operator=(SharedMemory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~SharedMemory();

    /// New, zeroed; `fd` is what to pass on. Not mapped on failure, errno says why.
    static SharedMemory create(const char* label, std::size_t bytes, module::OwnedFd& fd) noexcept;
    /// What a peer passed. Not mapped, errno EINVAL, if its size isn't sealed, or not in
    /// [least, most], or if it is of huge pages.
    static SharedMemory map(int fd, std::size_t least, std::size_t most) noexcept;

    explicit operator bool() const noexcept { return data_ != nullptr; }
    std::byte* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    template <class T>
    T* at(std::size_t offset) const noexcept {
        return reinterpret_cast<T*>(data_ + offset);
    }

    /// Gives the pages back to the system; they read as zero until written again.
    void discard() noexcept;

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace plexus::shm
