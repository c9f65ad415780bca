// SPDX-License-Identifier: BSD-3-Clause
// What UCX carries from a call to its completion: sends with what must stay in place for
// them, and blocks for what has arrived. The module's lock covers all of it.
#pragma once

#include "ucx/wire.h"

#include <algorithm>
#include <memory>
#include <ucp/api/ucp.h>
#include <vector>

namespace plexus::ucx {

class Link;
class Module;

/// A send, until UCX is through with it.
struct Op {
    Module* module = nullptr;
    Link* link = nullptr; ///< null: nobody waits for it any more
    void* token = nullptr;
    bool posted = false;
    bool moves = false;       ///< a get or put
    bool failed = false;      ///< of those
    std::uint8_t awaited = 0; ///< of those: requests of UCX that are not over
    std::size_t size = 0;
    std::array<std::uint8_t, Header::kBytes + PLEXUS_HEAD_MAX> header{}; ///< of a large one
    std::unique_ptr<std::byte[]> block;                                  ///< a small message after its header
    std::size_t room = 0;                                                ///< bytes of `block`
    std::vector<ucp_dt_iov_t> pieces;                                    ///< of a large one
    Op* previous = nullptr;                                              ///< of the same link
    Op* next = nullptr;
};

class Ops {
  public:
    explicit Ops(std::size_t eager)
      : eager_(std::max(eager, kSmall)) {}
    /// With a block for a header and at least `bytes`, at most `eager` unless it is rare: those are not kept.
    Op& take(std::size_t bytes, bool rare = false);
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

class Blocks {
  public:
    explicit Blocks(std::size_t bytes)
      : bytes_(bytes) {}
    std::size_t bytes() const noexcept { return bytes_; }
    std::byte* take();
    void give_back(std::byte* block);

  private:
    static constexpr std::size_t kMostKept = 64;
    const std::size_t bytes_;
    std::vector<std::unique_ptr<std::byte[]>> kept_;
};

/// An active message, from UCX's callback to its turn.
struct Arrival {
    enum class Store : std::uint8_t {
        here,       ///< `room` holds it
        block,      ///< of Blocks
        heap,       ///< memory of its own
        kept,       ///< UCX's, to be released
        rendezvous, ///< nothing has come yet; UCX's descriptor, to be received or released
    };
    static constexpr std::size_t kRoom = PLEXUS_HEAD_MAX;

    Link* link = nullptr; ///< null: a hello
    Header header;
    Store store = Store::here;
    std::size_t size = 0;
    std::uint8_t skip = 0;                        ///< bytes of `data` before the message
    void* data = nullptr;                         ///< unless here
    alignas(8) std::array<std::byte, kRoom> room; // its message, or a large one's head

    Arrival() noexcept {} // `room` is not worth filling
    const void* bytes() const noexcept {
        return store == Store::here ? room.data() : static_cast<const std::byte*>(data) + skip;
    }
};

} // namespace plexus::ucx
