// SPDX-License-Identifier: BSD-3-Clause
// The memory that the members of a group on one host share. It has no name, belongs to whoever
// has mapped it, and is gone when the last of them is, however that ends. One member makes it and
// offers it; the others open it through the maker's process, which the kernel permits to the same
// user alone, and know by its cookie that it is the one. Then the maker shuts the door. Members in
// one process map it once. Knows nothing of what is in it but the cookie. @thread any
#pragma once

#include "host/layout.h"

#include <memory>

namespace plexus::eco::host {

/// Where the memory is found. Plain data: it travels to the other members.
struct Offer {
    std::uint64_t process = 0; ///< the maker's id; 0: there is no offer
    std::uint64_t descriptor = 0;
    std::uint64_t bytes = 0;
    Cookie cookie{};
};

class Segment {
  public:
    /// New, zeroed but for its cookie. Null: the system has no such memory to give.
    static std::shared_ptr<Segment> create(std::size_t bytes, Offer& offer);
    /// Null: it can't be reached from here: another process namespace or user, or the maker is gone.
    static std::shared_ptr<Segment> open(const Offer& offer);
    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    /// Nobody else can open it any more.
    void shut() noexcept;

    template <class T>
    T* at(std::size_t offset) const noexcept {
        return reinterpret_cast<T*>(data_ + offset);
    }

  private:
    Segment(std::byte* data, std::size_t bytes, int descriptor) noexcept
      : data_(data)
      , bytes_(bytes)
      , descriptor_(descriptor) {}

    std::byte* data_;
    std::size_t bytes_;
    int descriptor_; ///< the maker's, while the door is open; else -1
};

} // namespace plexus::eco::host
