// SPDX-License-Identifier: BSD-3-Clause
// The forwarding of one context: its neighbours, the forwarders that it attaches to, and which hop belongs to
// which link. Modules of the method `forward` and Relays do the rest. The leader's own, except where
// a comment says otherwise.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "bootstrap/key.h"
#include "forward/neighbour.h"
#include "forward/relays.h"
#include "forward/renewals.h"
#include "forward/via.h"
#include "plexus/module/abi.h"
#include "request/dispatcher.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plexus::forward {

inline ContextId id_of(const plexus_id& id) noexcept {
    ContextId context;
    std::copy(std::begin(id.bytes), std::end(id.bytes), context.bytes.begin());
    return context;
}

/// Takes the links that others open to this context. @thread progress
class Acceptor {
  public:
    virtual ~Acceptor() = default;
    virtual void accept(const LinkName& from, const Hop& open, const Destination& to) = 0;
};

using LinkEnds = std::map<LinkName, HopEnd*>;

/// What a context relays. @thread any
class Rules {
  public:
    void set(ForwardRules rules) PLEXUS_EXCLUDES(mutex_) {
        auto fresh = std::make_shared<const ForwardRules>(std::move(rules));
        const Lock hold(mutex_);
        rules_.swap(fresh);
    }
    std::shared_ptr<const ForwardRules> get() const PLEXUS_EXCLUDES(mutex_) {
        const Lock hold(mutex_);
        return rules_;
    }

  private:
    mutable RankedMutex<25> mutex_;
    std::shared_ptr<const ForwardRules>
        rules_ PLEXUS_GUARDED_BY(mutex_) = std::make_shared<const ForwardRules>();
};

class Hub final : public request::Observer {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr const char* kPublished = "plexus.forward";

    // @thread setup
    /// `lookup_time`: how long a forwarder may take to be found.
    Hub(request::Dispatcher& dispatcher, transport::Endpoint& endpoint, const bootstrap::Key& key,
        std::chrono::nanoseconds lookup_time);
    ~Hub() override;
    Hub(const Hub&) = delete;
    Hub& operator=(const Hub&) = delete;

    /// The hub of a context of this process, for the modules that are opened for it before serve(); null:
    /// none.
    static Hub* of(const ContextId& context);
    /// Asks the directories at these URLs for their forwarders, the first time.
    /// @error what directories say, bad_config none is a forwarder
    Result<void> find_forwarders(const std::string& urls);
    const std::vector<Via>& forwarders() const noexcept { return forwarders_; }
    /// Gives the number by which others name the module.
    std::uint8_t add(Acceptor& module);
    void remove(std::uint8_t module) { modules_[module] = nullptr; }
    /// After the last module was opened: takes hops from now on.
    void serve();
    /// Makes this context known to its forwarders: waits for them, and tries again later where it waits in
    /// vain.
    void attach();
    /// How others reach this context's hub: what `kPublished` leads to. @error bad_config it has no such
    /// method
    Result<wire::Bytes> published() const;
    /// Nothing holds the context any more.
    void close();

    /// @thread any
    Rules rules;

    /// Hops wait for room. @thread any
    bool waits() const noexcept { return waits_.load(std::memory_order_relaxed); }
    /// "forwarder gate (1be4dae2)": this context, for sentences.
    std::string text() const;
    const transport::Endpoint& endpoint() const noexcept { return endpoint_; }

    // @thread progress
    Neighbour* find(const ContextId& context);
    /// The neighbour that a row leads through, or who relays now where that one did. It knows this context
    /// from now on. Null: there is no way to it.
    Neighbour* reach(const Via& row, const ContextId& target);
    /// By that row, and by way of `used`, no link to this target was opened: see Renewals::doubt().
    void doubt(const Via& row, const ContextId& target, const ContextId& used) {
        renewals_.doubt(row, target, used);
    }
    void bind(const LinkName& name, HopEnd& end) { ends_[name] = &end; }
    void unbind(const LinkName& name) { ends_.erase(name); }
    void say(const LinkName& to, const Hop& hop);
    void say_close(const LinkName& to, Status status, std::string_view why);
    /// In a turn: hops that wait for room, and what is due by the clock. Costs two loads where there is none.
    void run();
    /// How long until run() has something to do, max(): for ever. Sends nothing: a lane that is armed is in
    /// no turn, and a send would wait there.
    std::chrono::nanoseconds time_left() const;

    // request::Observer
    void peer_arrived(const transport::Peer& peer) override;
    void peer_lost(const transport::Peer& peer, bool gone) override;
    bool needs(const transport::Peer& peer) override;
    std::vector<transport::CarriedPeer> carried_peers() override;

  private:
    void take_attach(const GlobalPointer<Hub>& from);
    void take_hop(std::uint8_t kind, std::uint32_t number, std::uint64_t value, wire::View bytes);
    void take_renewed();
    void lose(Neighbour& neighbour);
    void revive(Neighbour& neighbour);

    request::Dispatcher& dispatcher_;
    transport::Endpoint& endpoint_;
    const bootstrap::Key key_;
    Renewals renewals_;
    const std::chrono::nanoseconds lookup_time_;
    std::vector<Via> forwarders_;
    std::vector<Acceptor*> modules_;
    GlobalPointer<Hub> own_;
    std::map<ContextId, std::unique_ptr<Neighbour>> neighbours_;
    LinkEnds ends_;
    Relays relays_{*this};
    Clock::time_point next_attach_ = Clock::time_point::max();
    std::atomic<bool> waits_{
        false}; ///< the leader sets it: a neighbour has hops that found no room, or is newly lost
};

} // namespace plexus::forward
