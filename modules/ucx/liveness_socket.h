// SPDX-License-Identifier: BSD-3-Clause
// How contexts of one host notice each other's end: each context listens on a socket from which it never
// accepts, and connects to the sockets of its peers. When a process ends, however it ends, the kernel hangs
// up the connections to its socket. Knows no UCX.
//
// Shared memory alone does not show the end of a peer: a process can write into the memory of a dead process
// without an error. Sockets in the abstract name space leave no files.
#pragma once

#include "base/unique_fd.h"
#include "plexus/module/abi.h"

#include <array>
#include <cstdint>

namespace plexus::ucx {

using LivenessName = std::array<std::uint8_t, 16>; ///< all zero: none

class LivenessSocket {
  public:
    /// Errno, or 0. @thread setup
    int open(const plexus_host& host);
    const LivenessName& name() const noexcept { return name_; }
    /// Peers see at once that they must not use this context's memory any more.
    void close() noexcept { listening_.reset(); }

  private:
    UniqueFd listening_;
    LivenessName name_{};
};

/// A connection to a peer's socket. Empty: errno says why; ECONNREFUSED: the peer has ended.
UniqueFd connect_liveness(const LivenessName& name);
/// True: the peer has ended.
bool has_hung_up(int connection) noexcept;

} // namespace plexus::ucx
