// SPDX-License-Identifier: BSD-3-Clause
// One operation of UCX with what must stay in place until it is complete, and the pool that keeps operations
// and their blocks of memory for the next ones. Under the port's lock.
#pragma once

#include "message_link/port.h"

#include <algorithm>
#include <memory>
#include <ucp/api/ucp.h>
#include <vector>

namespace plexus::ucx {

class Operations;
struct UcxPeer;

/// A send, receive, get or put, until UCX is through with it.
struct Op {
    enum class What : std::uint8_t { copy, carried, move, receive };

    Operations* owner = nullptr;
    UcxPeer* peer = nullptr; ///< null: nobody waits for it any more
    What what = What::copy;
    void* token = nullptr;
    bool failed = false;      ///< of moves
    std::uint8_t awaited = 0; ///< of moves: requests of UCX that are not over
    std::size_t size = 0;
    std::array<std::byte, message_link::kHeaderBytes + PLEXUS_HEAD_MAX> header{}; ///< of a carried one
    std::unique_ptr<std::byte[]> block; ///< of a copy: its header, and then the body
    std::size_t room = 0;               ///< bytes of the body that `block` holds
    std::vector<ucp_dt_iov_t> pieces;   ///< of a carried one
    Op* previous = nullptr;             ///< of the same peer
    Op* next = nullptr;
};

class OpPool {
  public:
    explicit OpPool(std::size_t eager)
      : eager_(std::max(eager, kSmall)) {}
    /// With a block for a header and at least `bytes`.
    Op& take(Op::What what, std::size_t bytes);
    void give_back(Op& op);
    std::size_t taken() const noexcept { return taken_; }

  private:
    static constexpr std::size_t kSmall = 256; // most messages
    static constexpr std::size_t kMostKept = 64;
    const std::size_t eager_;
    std::vector<std::unique_ptr<Op>> small_;
    std::vector<std::unique_ptr<Op>> other_;
    std::size_t taken_ = 0;
};

} // namespace plexus::ucx
