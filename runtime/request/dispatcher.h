// SPDX-License-Identifier: BSD-3-Clause
// The requests of one context: its client, its server, and who of them and of the rooms above hears what
// happens to peers, channels and frames.
#pragma once

#include "request/client.h"
#include "request/reporter.h"
#include "request/server.h"
#include "transport/route.h"
#include "transport/transport.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace plexus::request {

struct DispatcherOptions {
    std::size_t handler_threads = 2;
    std::size_t handler_queue = std::size_t{64} << 20;
    std::size_t calls = 65536;
    Deadline call_deadline = no_deadline; ///< of calls whose pointer has none
    std::string name;                     ///< of this context, told to peers
};

/// A room above that carries calls in a way of its own.
class Extension {
  public:
    virtual ~Extension() = default;
    // Called by the dispatcher after it has ended or moved its calls. @thread progress
    virtual void peer_lost(const transport::Peer& peer) = 0;
    virtual void calls_lost(const transport::Channel& via) = 0;
    virtual void calls_moved(const transport::Channel& from, transport::Channel& to) = 0;
    virtual bool awaits(const transport::Channel& via) = 0;
};

/// A room above whose own requests keep relations to other contexts.
class Observer {
  public:
    virtual ~Observer() = default;
    /// A link to that peer is open: the first, or another one. @thread progress
    virtual void peer_arrived(const transport::Peer& peer) = 0;
    // After the dispatcher and the extension. @thread progress
    /// `gone` false: requests of the observer were lost, and the peer may be there all the same.
    virtual void peer_lost(const transport::Peer& peer, bool gone) = 0;
    /// True: a channel to that peer whose link breaks is made anew, or the peer is lost.
    virtual bool needs(const transport::Peer& peer) = 0;
    /// See transport::Listener.
    virtual std::vector<transport::CarriedPeer> carried_peers() = 0;
};

class Dispatcher final : public transport::Listener {
  public:
    explicit Dispatcher(DispatcherOptions options);

    /// Registers the kinds that client and server understand. @thread setup
    void serve(transport::Transport& transport);
    /// @thread setup
    void extend(Extension& by) noexcept { extension_ = &by; }
    Extension* extension() const noexcept { return extension_; }
    /// `own`: its request. It is told of those that are lost, and not the program. @thread setup
    void observe(Observer& by, const detail::RequestInfo& own) noexcept {
        observer_ = &by;
        observers_own_ = &own;
    }

    Reporter& reporter() noexcept { return reporter_; }
    Client& client() noexcept { return client_; }
    Server& server() noexcept { return server_; }
    const std::string& name() const noexcept { return options_.name; }

    // transport::Listener
    std::unique_ptr<transport::Attachment> attach(transport::Peer& peer) override;
    void peer_arrived(transport::Peer& peer) override {
        if (observer_ != nullptr) observer_->peer_arrived(peer);
    }
    void peer_lost(transport::Peer& peer, Status status, const std::string& why) override;
    bool awaits(transport::Peer& peer) override { return client_.calls().awaits(&peer); }
    bool awaits(const transport::Channel& via) override;
    void calls_uncertain(transport::Channel& via) override { client_.calls().mark_uncertain(&via); }
    void calls_lost(transport::Channel& via, transport::WhichCalls which, Status status,
                    const std::string& why) override;
    void frames_lost(transport::Peer& peer, const std::vector<wire::View>& heads, Status status,
                     const std::string& why) override;
    void calls_moved(transport::Channel& from, transport::Channel& to) override;
    void peer_event(transport::Peer& peer, Status what, const std::string& why) override;
    std::vector<transport::CarriedPeer> carried_peers() override {
        return observer_ != nullptr ? observer_->carried_peers() : std::vector<transport::CarriedPeer>();
    }
    std::chrono::nanoseconds deferred_work() override;
    void on_error(Status status, const std::string& what) noexcept override {
        reporter_.report_error(status, what);
    }

  private:
    const DispatcherOptions options_;
    Reporter reporter_;
    Client client_;
    Server server_; // ends first: handlers that still run may call
    Extension* extension_ = nullptr;
    Observer* observer_ = nullptr;
    const detail::RequestInfo* observers_own_ = nullptr;
};

/// The dispatcher of the context that a route belongs to.
inline Dispatcher& dispatcher_of(const detail::Route& route) noexcept {
    return static_cast<Dispatcher&>(route.endpoint().listener());
}

} // namespace plexus::request
