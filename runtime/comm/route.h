// SPDX-License-Identifier: BSD-3-Clause
// A pointer's way: its table, its wishes, and the communication object that both led to.
// Pointers without wishes of their own share one route for each table.
#pragma once

#include "base/mutex.h"
#include "comm/exchange.h"
#include "plexus/pointer.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>

namespace plexus::detail {

class Route {
  public:
    using KnownTable = comm::KnownTable;

    /// `keep` holds the context that `exchange` belongs to.
    Route(std::shared_ptr<Core> keep, comm::Exchange& exchange, std::shared_ptr<comm::Peer> peer,
          std::shared_ptr<const KnownTable> table);
    /// A copy with the same wishes, to be changed.
    Route(const Route& other);
    Route& operator=(const Route&) = delete;

    const ContextId& context() const noexcept { return peer_->id; }
    comm::Peer& peer() const noexcept { return *peer_; }
    comm::Exchange& exchange() const noexcept { return exchange_; }
    const std::shared_ptr<Core>& core() const noexcept { return core_; }
    const std::shared_ptr<const KnownTable>& known_table() const noexcept { return table_; }

    /// The object to send by; chosen on first use and when the last one is dead. Null: none,
    /// `status` and `why` say more. @thread any
    comm::Object* resolve(Status& status, std::string* why);
    /// Sends, choosing anew as long as ways break. @thread any
    Status send(comm::Frame& frame, std::string* why);

    /// The same for a frame that is one piece, where nothing stands in its way: else false, and
    /// nothing was sent. @thread any
    bool send_at_once(wire::View frame, std::uint16_t request) {
        comm::Object* const object = object_.load(std::memory_order_acquire); // pairs with [way]
        return object != nullptr && object->send_at_once(frame, request);
    }

    // Wishes. @thread any, one at a time
    void set_table(DescriptorTable table);
    void pin(const std::vector<method::ListItem>& list);
    void set_policy(Policy policy);
    void set_automatic();
    void set_fallback(Fallback fallback);

    std::string method();
    Choice choose() const;
    std::vector<RowFacts> facts() const;

  private:
    comm::Object* select(Status& status, std::string* why);
    void change();
    std::optional<Descriptor> choose_row(Choice& choice, bool& preferred) const;
    Status peer_end(std::string* why);

    const std::shared_ptr<Core> core_;
    comm::Exchange& exchange_;
    const std::shared_ptr<comm::Peer> peer_;
    std::shared_ptr<const KnownTable> table_; ///< as it travels

    // [way] stored after the object was made; whoever loads it may use the object.
    std::atomic<comm::Object*> object_{nullptr};
    mutable RankedMutex<14> mutex_;
    comm::Object* former_ PLEXUS_GUARDED_BY(mutex_) = nullptr; ///< must settle before the new one is used
    DescriptorTable rows_ PLEXUS_GUARDED_BY(mutex_);           ///< what is chosen from: with parameters
    Policy policy_ PLEXUS_GUARDED_BY(mutex_);
    std::optional<Fallback> fallback_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::detail
