// SPDX-License-Identifier: BSD-3-Clause
// A descriptor that is kept so that it can be closed: in a process that has no other left, a descriptor which
// a peer passes finds room in its place. @thread progress
#pragma once

#include "base/unique_fd.h"

#include <sys/eventfd.h>

namespace plexus::shm {

class SpareDescriptor {
  public:
    /// Closes it. Another thread may be faster to use the room.
    void make_room() noexcept { fd_.reset(); }
    /// Takes one again, if there is one to be had.
    void restore() noexcept {
        if (!fd_) fd_.reset(::eventfd(0, EFD_CLOEXEC));
    }

  private:
    UniqueFd fd_;
};

} // namespace plexus::shm
