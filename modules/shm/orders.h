// SPDX-License-Identifier: BSD-3-Clause
// What other threads want the poller to do. Putting an order wakes the poller.
#pragma once

#include "base/lock.h"
#include "shm/doorbell.h"

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace plexus::shm {

struct Link;

struct Order {
    enum class Do : std::uint8_t { connect, disconnect, stream };
    Do what;
    Link* link;
};

class Orders {
  public:
    /// `mailbox` wakes the poller; it outlives this.
    explicit Orders(Mailbox& mailbox)
      : mailbox_(mailbox) {}

    /// @thread any
    void put(Order::Do what, Link& link) {
        {
            const Lock hold(mutex_);
            orders_.push_back({what, &link});
        }
        waiting_.store(true, std::memory_order_seq_cst); // [orders]
        mailbox_.wake();
    }

    // @thread progress from here on

    /// Relaxed; an order that is missed is seen in a later turn.
    bool waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
    /// Exact; for the moment before falling asleep.
    bool waiting_exactly() const noexcept { return waiting_.load(std::memory_order_seq_cst); }
    /// All orders, oldest first.
    std::vector<Order> take() {
        waiting_.store(false, std::memory_order_seq_cst); // [orders]
        const Lock hold(mutex_);
        return std::exchange(orders_, {});
    }

  private:
    Mailbox& mailbox_;
    // [orders] Set after the order is in the list, cleared before the list is taken.
    std::atomic<bool> waiting_{false};
    Mutex mutex_;
    std::vector<Order> orders_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::shm
