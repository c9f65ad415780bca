// SPDX-License-Identifier: BSD-3-Clause
// A context one hop away: a pointer to its hub, and hops that found no room yet.
#pragma once

#include "forward/hop.h"

#include <deque>
#include <string>

namespace plexus::forward {

class Neighbour {
  public:
    /// `url`: where it was found if it is a forwarder, or empty.
    explicit Neighbour(GlobalPointer<Hub> pointer, std::string url = {})
      : pointer_(std::move(pointer))
      , url_(std::move(url)) {}

    const ContextId& id() const noexcept { return pointer_.context(); }
    const GlobalPointer<Hub>& pointer() const noexcept { return pointer_; }
    const std::string& url() const noexcept { return url_; }
    /// "context 0123abcd (ocean)"
    std::string text() const;
    std::string name() const;
    std::uint32_t next_number() noexcept { return ++last_number_; }

    // @thread progress
    /// Says by which pointer `me` is reached.
    bool introduce(const GlobalPointer<Hub>& me);
    /// `kind`: the hop's with kYours, if the neighbour has chosen the number.
    void send(std::uint8_t kind, std::uint32_t number, const Hop& hop);
    /// Sends what had found no room. True: none is left.
    bool retry();
    bool waits() const noexcept { return !queue_.empty(); }
    /// What those that found no room hold, in bytes: what the channel took is bounded by
    /// limits.handler_queue.
    std::uint64_t queued() const noexcept { return queued_; }
    /// No row reaches it: send() does nothing any more.
    bool lost() const noexcept { return lost_; }
    void mark_lost() noexcept {
        unsettled_ = unsettled_ || !lost_;
        lost_ = true;
        introduced = false;
        queue_.clear();
        queued_ = 0;
    }
    /// It was lost, and its links have not been ended.
    bool unsettled() const noexcept { return unsettled_; }
    void settle() noexcept { unsettled_ = false; }
    /// It has said how it is reached, perhaps anew.
    void found(const GlobalPointer<Hub>& by) {
        pointer_ = by;
        lost_ = false;
        attached = true;
    }
    void try_again() noexcept { lost_ = false; }

    bool attached = false;   ///< it has introduced itself
    bool introduced = false; ///< it knows how this context is reached

  private:
    struct Waiting {
        std::uint8_t kind;
        std::uint32_t number;
        Hop hop; ///< its bytes are in `copy`, or are kept by its pin
        wire::Bytes copy;
    };
    Status try_send(std::uint8_t kind, std::uint32_t number, const Hop& hop);

    GlobalPointer<Hub> pointer_;
    const std::string url_;
    std::uint32_t last_number_ = 0;
    bool lost_ = false;
    bool unsettled_ = false;
    std::deque<Waiting> queue_; ///< see Hub::say_close()
    std::uint64_t queued_ = 0;
};

} // namespace plexus::forward
