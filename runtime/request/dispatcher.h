// SPDX-License-Identifier: BSD-3-Clause
// What requests mean: finds object and handler of one that arrives by index, runs the
// handler, carries results back; sends requests and keeps the calls that wait.
#pragma once

#include "plexus/handler.h"
#include "request/call_endings.h"
#include "request/objects.h"
#include "request/parked_requests.h"
#include "request/pool.h"
#include "request/reporter.h"
#include "request/waiting_requests.h"
#include "transport/route.h"
#include "transport/transport.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
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
    ~Dispatcher() override;

    /// Registers the kinds that it understands. @thread setup
    void serve(transport::Transport& transport);
    /// @thread setup
    void extend(Extension& by) noexcept { extension_ = &by; }
    Extension* extension() const noexcept { return extension_; }
    /// `own`: its request. It is told of those that are lost, and not the program. @thread setup
    void observe(Observer& by, const detail::RequestInfo& own) noexcept {
        observer_ = &by;
        observers_own_ = &own;
    }
    /// Lets threaded handlers finish what was accepted, and makes progress meanwhile. At the deadline
    /// every wait in a handler ends with `closed`. @thread setup
    void finish_handlers(poll::Scheduler& scheduler, std::chrono::steady_clock::time_point deadline);
    /// Ends the handlers' threads. A handler that has not returned by the deadline goes on by itself and
    /// holds `keep`; the log names its request. @thread setup
    void release_handlers(std::chrono::steady_clock::time_point deadline, std::shared_ptr<void> keep);

    /// @error busy (thrown) there is a handler for that name. @thread any
    void install(const detail::RequestInfo& request, std::unique_ptr<detail::Handler> handler)
        PLEXUS_EXCLUDES(handlers_mutex_);

    Reporter& reporter() noexcept { return reporter_; }
    Objects& objects() noexcept { return objects_; }
    Calls& calls() noexcept { return calls_; }
    CallEndings& endings() noexcept { return endings_; }
    /// Requests that wait for room. @thread any
    std::size_t parked() const noexcept { return parked_.count(); }
    const std::string& name() const noexcept { return options_.name; }
    /// Grows with each request whose newest wins. @thread any
    std::uint64_t next_number() noexcept { return numbers_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// What a call's deadline is, in milliseconds; 0: it has none. @thread any
    std::uint32_t limit_of(Deadline wanted) const noexcept {
        const Deadline limit = wanted == Deadline{} ? options_.call_deadline : wanted;
        return limit == no_deadline ? 0 : limit.milliseconds;
    }
    /// Tells the sender why its request was not carried out, and the log if it was one-way. @thread any
    void refuse(transport::Channel& to, const wire::RequestHeader& header, Status status,
                const std::string& why);

    /// Ends the call that an answer which could not be taken was for. False: `head` names none.
    /// @thread progress
    bool refuse_reply(transport::Link& from, wire::View head, Status status, const std::string& why);

    // transport::Listener
    std::unique_ptr<transport::Attachment> attach(transport::Peer& peer) override;
    void peer_arrived(transport::Peer& peer) override {
        if (observer_ != nullptr) observer_->peer_arrived(peer);
    }
    void peer_lost(transport::Peer& peer, Status status, const std::string& why) override;
    bool awaits(transport::Peer& peer) override { return calls_.awaits(&peer); }
    bool awaits(const transport::Channel& via) override;
    void calls_uncertain(transport::Channel& via) override { calls_.mark_uncertain(&via); }
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

    /// Which requests of a peer that carry a number were the newest. The leader's own.
    class Newest {
      public:
        /// True if none of that object and request with a higher number, or the same, has come; then
        /// remembers the number. May be false for some that are newer, when very many were remembered.
        bool take(std::uint32_t handle, std::uint16_t request, std::uint64_t number);

      private:
        std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
        std::uint64_t highest_ = 0;
        std::uint64_t floor_ = 0; ///< of those that are not in the map, none was above
    };
    struct Names : transport::Attachment {
        struct Entry {
            std::string name;
            std::uint64_t signature = 0;
            detail::Handler* handler = nullptr; ///< once found it stays
        };
        std::vector<Entry> entries;
        ParkedRequests::Line line;
        WaitingRequests waiting; ///< anybody's
        Newest newest;
    };

  private:
    void take_request(transport::Link& from, wire::View frame, Buffer* owned);
    /// Of what came by a method that loses messages. False: dropped.
    bool take_datagram(const transport::Peer& from, const transport::Interface& by, wire::View frame);
    void take_reply(transport::Link& from, wire::View frame);
    void take_report(transport::Link& from, wire::View frame);
    void take_declare(transport::Link& from, wire::View frame);
    void take_table(transport::Link& from, wire::View frame);
    void take_cancel(transport::Link& from, wire::View frame);

    void park(transport::Channel& from, Names& names, const wire::RequestHeader& header, wire::View frame,
              Buffer* owned);
    std::chrono::nanoseconds begin_parked();
    void begin(ParkedRequests::Request& request);
    void handle(transport::Channel& from, Names& names, const wire::RequestHeader& header, wire::View frame,
                Buffer* owned);
    std::string name_of_handler(const void* handler) const PLEXUS_EXCLUDES(handlers_mutex_);
    detail::Handler* find(Names::Entry& entry, Status& status, std::string_view& types)
        PLEXUS_EXCLUDES(handlers_mutex_);
    /// Gives the bytes of the answer, if it was given at once.
    std::size_t run(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
                    const wire::RequestHeader& header, wire::View frame, Buffer* owned);
    void run_threaded(detail::Handler& handler, Objects::Slot& slot, transport::Channel& from,
                      const wire::RequestHeader& header, wire::View frame, Buffer* owned);
    struct Installed {
        std::uint64_t signature;
        std::string_view types; ///< what the signature is the hash of
        std::unique_ptr<detail::Handler> handler;
    };
    const DispatcherOptions options_;
    transport::Endpoint* endpoint_ = nullptr; ///< set by serve()
    mutable RankedMutex<21> handlers_mutex_;
    std::map<std::string, Installed, std::less<>> handlers_ PLEXUS_GUARDED_BY(handlers_mutex_);
    Reporter reporter_;
    Objects objects_;
    Calls calls_;
    CallEndings endings_;
    ParkedRequests parked_;
    Pool pool_;
    std::atomic<std::uint64_t> numbers_{0}; // alone is the message
    Extension* extension_ = nullptr;
    Observer* observer_ = nullptr;
    const detail::RequestInfo* observers_own_ = nullptr;
};

/// The dispatcher of the context that a route belongs to.
Dispatcher& dispatcher_of(const detail::Route& route) noexcept;

} // namespace plexus::request
