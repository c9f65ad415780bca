// SPDX-License-Identifier: BSD-3-Clause
// Memory that the members of a group on one host share. It has no name, and the kernel frees it when the
// last process that maps it has ended. One member creates it and offers it. The others open it through
// /proc/PID/fd of the creator, which the kernel permits to the same user only, and check its cookie. Then
// the creator closes its descriptor. A process maps it once for all members. Knows only the cookie of its
// content. @thread any
#pragma once

#include "base/sealed_memory.h"
#include "base/unique_fd.h"
#include "host/layout.h"

#include <memory>

namespace plexus::eco::host {

/// Where the memory is found. Plain data that is sent to the other members.
struct Offer {
    std::uint64_t process = 0; ///< the creator's id; 0: there is no offer
    std::uint64_t descriptor = 0;
    std::uint64_t bytes = 0;
    Cookie cookie{};
};

class SharedMemory {
  public:
    /// New memory, zeroed except for its cookie. Null: the system does not provide it.
    static std::shared_ptr<SharedMemory> create(std::size_t bytes, Offer& offer);
    /// Null: not accessible, because the process namespace or the user differs, or the creator has ended.
    static std::shared_ptr<SharedMemory> open(const Offer& offer);
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// Closes the creator's descriptor: no other process can open the memory any more.
    void close_descriptor() noexcept { descriptor_.reset(); }

    template <class T>
    T* at(std::size_t offset) const noexcept {
        return memory_.at<T>(offset);
    }

  private:
    SharedMemory(SealedMemory memory, UniqueFd descriptor) noexcept
      : memory_(std::move(memory))
      , descriptor_(std::move(descriptor)) {}

    SealedMemory memory_;
    UniqueFd descriptor_; ///< the creator's, until close_descriptor()
};

} // namespace plexus::eco::host
