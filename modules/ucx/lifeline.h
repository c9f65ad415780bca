// SPDX-License-Identifier: BSD-3-Clause
// How contexts of one host notice each other's end: each listens on a socket that nobody
// ever accepts from, and holds on to those of its peers. The system hangs such a connection
// up when its owner goes, however it goes. Knows no UCX.
//
// Shared memory alone does not tell: who writes into the memory of a dead process notices
// nothing. Sockets in the abstract name space leave no files.
#pragma once

#include "common/owned_fd.h"
#include "plexus/module/abi.h"

#include <array>
#include <cstdint>

namespace plexus::ucx {

using LifelineName = std::array<std::uint8_t, 16>; ///< all zero: none

class Lifeline {
  public:
    /// Errno, or 0. @thread setup
    int open(const plexus_host& host);
    const LifelineName& name() const noexcept { return name_; }
    /// Peers learn at once that what they have of ours is not valid any more.
    void cut() noexcept { listening_.reset(); }

  private:
    module::OwnedFd listening_;
    LifelineName name_{};
};

/// Holds on to a peer's. Nothing: errno says why; ECONNREFUSED: its owner has ended.
module::OwnedFd hold_on(const LifelineName& name);
/// The owner of the other end has gone.
bool is_cut(int held) noexcept;

} // namespace plexus::ucx
