// SPDX-License-Identifier: BSD-3-Clause
// What requests mean: finds object and handler of one that arrives by index, runs the
// handler, carries results back; sends requests and keeps the calls that wait.
#pragma once

#include "comm/exchange.h"
#include "comm/route.h"
#include "plexus/handler.h"
#include "request/calls.h"
#include "request/objects.h"
#include "request/pool.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plexus::request {

struct DispatcherOptions {
    std::size_t handler_threads = 2;
    std::size_t handler_queue = std::size_t{64} << 20;
    std::size_t calls = 65536;
};

/// A room above that carries calls in a way of its own.
class Extension {
  public:
    virtual ~Extension() = default;
    /// The calls to it have been ended. @thread progress
    virtual void peer_lost(const comm::Peer& peer) = 0;
};

class Dispatcher final : public comm::Listener {
  public:
    explicit Dispatcher(DispatcherOptions options);
    ~Dispatcher() override;

    /// Registers the kinds that it understands. @thread setup
    void serve(comm::Exchange& exchange);
    /// @thread setup
    void extend(Extension& by) noexcept { extension_ = &by; }
    Extension* extension() const noexcept { return extension_; }
    /// Lets threaded handlers finish what was accepted, until the deadline. @thread setup
    void finish_handlers(std::chrono::steady_clock::time_point deadline);

    /// @error busy (thrown) there is a handler for that name. @thread any
    void install(const detail::RequestInfo& request, std::unique_ptr<detail::Handler> handler)
        PLEXUS_EXCLUDES(handlers_mutex_);
    void on_error(std::function<void(const Error&)> handler) PLEXUS_EXCLUDES(handlers_mutex_);

    Objects& objects() noexcept { return objects_; }
    Calls& calls() noexcept { return calls_; }

    /// Sends the answer to a call. Any failure is the peer's loss, and logged. @thread any
    static void answer(comm::Object& to, std::uint32_t call, Status status, std::string_view why);
    static void answer(comm::Object& to, std::uint32_t call, detail::Writer& result);

    /// Ends the call that an answer which could not be taken was for. False: `head` names none.
    /// @thread progress
    bool refuse_reply(comm::Connection& from, wire::View head, Status status, const std::string& why);

    // comm::Listener
    std::unique_ptr<comm::Attachment> attach(comm::Peer& peer) override;
    void peer_lost(comm::Peer& peer, Status status, const std::string& why) override;
    bool awaits(comm::Peer& peer) override { return calls_.awaits(&peer); }
    void trouble(Status status, const std::string& what) override PLEXUS_EXCLUDES(handlers_mutex_);

  private:
    /// What a peer's numbers mean here. The leader's own.
    struct Names : comm::Attachment {
        struct Entry {
            std::string name;
            std::uint64_t signature = 0;
            detail::Handler* handler = nullptr; ///< once found it stays
        };
        std::vector<Entry> entries;
    };

    void take_request(comm::Connection& from, wire::View frame, Buffer* owned);
    void take_reply(comm::Connection& from, wire::View frame);
    void take_report(comm::Connection& from, wire::View frame);
    void take_declare(comm::Connection& from, wire::View frame);
    void take_table(comm::Connection& from, wire::View frame);

    detail::Handler* find(Names::Entry& entry, Status& status) PLEXUS_EXCLUDES(handlers_mutex_);
    void run(detail::Handler& handler, void* object, comm::Object& from, const wire::RequestHeader& header,
             wire::View frame);
    void run_threaded(detail::Handler& handler, Objects::Slot& slot, comm::Connection& from,
                      const wire::RequestHeader& header, wire::View frame, Buffer* owned);
    void refuse(comm::Object& to, const wire::RequestHeader& header, Status status, const std::string& why);

    struct Installed {
        std::uint64_t signature;
        std::unique_ptr<detail::Handler> handler;
    };
    mutable RankedMutex<21> handlers_mutex_;
    std::map<std::string, Installed, std::less<>> handlers_ PLEXUS_GUARDED_BY(handlers_mutex_);
    std::function<void(const Error&)> on_error_ PLEXUS_GUARDED_BY(handlers_mutex_);
    Objects objects_;
    Calls calls_;
    Pool pool_;
    Extension* extension_ = nullptr;
};

/// The dispatcher of the context that a route belongs to.
Dispatcher& dispatcher_of(const detail::Route& route) noexcept;

} // namespace plexus::request
