// SPDX-License-Identifier: BSD-3-Clause
// Active messages, from UCX's callback until the engine is through with them. Under the port's
// lock unless it says otherwise.
#pragma once

#include "message_link/port.h"

#include <memory>
#include <ucp/api/ucp.h>
#include <vector>

namespace plexus::ucx {

/// An active message.
struct Arrival : message_link::Message {
    enum class Store : std::uint8_t {
        here,       ///< `room` holds it
        block,      ///< a block of the inbox
        heap,       ///< memory of its own
        kept,       ///< UCX's, to be released
        rendezvous, ///< nothing has come yet; UCX's descriptor, to be received or released
    };
    static constexpr std::size_t kRoom = PLEXUS_HEAD_MAX;

    Store store = Store::here;
    void* memory = nullptr;                       ///< unless here
    alignas(8) std::array<std::byte, kRoom> room; // its body, or a carried one's head

    Arrival() noexcept {} // `room` is not worth filling
};

class Inbox {
  public:
    explicit Inbox(std::size_t eager)
      : block_bytes_(eager) {}
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    /// UCX's callback; `inbox` is one of these.
    static ucs_status_t take(void* inbox, const void* header, std::size_t header_size, void* data,
                             std::size_t size, const ucp_am_recv_param_t* about);

    bool is_empty() const noexcept { return next_ == arrived_.size(); }
    Arrival* next() noexcept { return is_empty() ? nullptr : arrived_[next_++]; }
    /// The engine is through with it: what it holds goes back by flush(). @thread progress, without the lock
    void release(Arrival& arrival) { to_release_.push_back(&arrival); }
    void flush(ucp_worker_h worker);
    /// Gives back everything that UCX has put together while `worker` stands. What it has yet to fetch
    /// goes with the worker, because a release would tell the peer that it was taken.
    void drop(ucp_worker_h worker);

  private:
    static constexpr std::size_t kMostKept = 64;

    ucs_status_t keep(const message_link::Header& header, const std::byte* head, std::size_t head_size,
                      void* data, std::size_t skip, std::size_t size, std::uint64_t attributes);
    Arrival& add(const message_link::Header& header);

    const std::size_t block_bytes_;
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::vector<std::unique_ptr<Arrival>> free_;
    std::vector<Arrival*> arrived_;
    std::size_t next_ = 0;
    std::vector<Arrival*> to_release_; // the progress thread's
};

} // namespace plexus::ucx
