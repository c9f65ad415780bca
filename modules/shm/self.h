// SPDX-License-Identifier: BSD-3-Clause
// What peers see of this context: its descriptor, its process, and what they try to read. Constant after
// open().
#pragma once

#include "shm/opening.h"

#include <string>
#include <sys/types.h>

namespace plexus::shm {

class Self {
  public:
    /// Empty, or why this context can have no links. @thread progress
    std::string open(const plexus_host& host);

    /// This is a forked child of the process that opened the module: all that is shared is the parent's.
    bool is_forked() const noexcept;
    const Descriptor& descriptor() const noexcept { return descriptor_; }
    /// Whether this process has joined the barrier, see full_barrier().
    bool has_barrier() const noexcept { return has_barrier_; }
    /// What a peer is told about the link in slot `slot` with rings of `ring_lines` lines.
    Setup setup(std::uint32_t slot, std::uint32_t ring_lines) const noexcept;

  private:
    Descriptor descriptor_;
    Cookie cookie_{}; // peers read it to see whether they may
    pid_t process_ = 0;
    std::uint64_t start_time_ = 0;
    bool has_barrier_ = false;
};

} // namespace plexus::shm
