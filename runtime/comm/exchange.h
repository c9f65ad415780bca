// SPDX-License-Identifier: BSD-3-Clause
// All of a context's communication: its opened modules, the peers it knows, the
// communication objects to them, and the dispatch of what arrives. Decides how a broken
// way is replaced. Knows frames by kind only; the rooms above register what they mean.
#pragma once

#include "base/log.h"
#include "base/mutex.h"
#include "comm/connection.h"
#include "comm/peer.h"
#include "config/settings.h"
#include "loader/modules.h"
#include "method/list.h"
#include "method/selection.h"
#include "plexus/pointer.h"
#include "poll/scheduler.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace plexus::comm {

struct ExchangeOptions {
    std::uint64_t max_message = 1ull << 30;
    std::uint64_t handler_queue = 64ull << 20;
    std::uint64_t retain = 4ull << 20;
    Fallback fallback = Fallback::allow;
    std::array<std::uint8_t, 32> key{};
};

/// What the rooms above want to know. @thread progress
class Listener {
  public:
    virtual ~Listener() = default;
    virtual std::unique_ptr<Attachment> attach(Peer& peer) = 0;
    /// Nothing sent to `peer` will be answered any more.
    virtual void peer_lost(Peer& peer, Status status, const std::string& why) = 0;
    /// True if somebody waits for an answer from it.
    virtual bool awaits(Peer& peer) = 0;
    /// Something went wrong that no caller waits for.
    virtual void trouble(Status status, const std::string& what) = 0;
};

/// What to do with frames of one kind.
struct Sink {
    /// `owned`: the memory of `frame`, to keep; null: valid until return.
    void (*take)(void* self, Connection& from, wire::View frame, Buffer* owned) = nullptr;
    /// Optional: says where a large frame's rest belongs. False: in a buffer, then take().
    bool (*place)(void* self, Connection& from, wire::View head, std::size_t rest, Placement& placement,
                  void** where) = nullptr;
    void* self = nullptr;
    /// Optional: a frame was not taken. Whoever waits for what it asks for is to hear why.
    /// False: `head` doesn't say whom.
    bool (*refuse)(void* self, Connection& from, wire::View head, Status status,
                   const std::string& why) = nullptr;
};

/// Memory that peers may reach by one method.
struct Exposure {
    Method* method = nullptr;
    void* data = nullptr;
    plexus_memory* memory = nullptr;
    wire::Bytes key; ///< for them
};

class Exchange {
  public:
    Exchange(const ContextId& self, ExchangeOptions options, poll::Scheduler& scheduler, Listener& listener);
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    // Setting up and taking down. @thread setup
    /// Opens a module; a refusal is remembered for refused(). Lanes come in this order.
    Result<void> open(const loader::Module& module, const config::Settings& settings,
                      const loader::Modules& modules);
    /// Builds the table of what was opened: the rows that `order` names, as it orders them.
    void seal_table(const std::vector<method::ListItem>& order);
    void on(wire::Kind kind, Sink sink) { sinks_[static_cast<std::size_t>(kind)] = sink; }
    /// Refuses new work, sends what was accepted (until `deadline`), says goodbye.
    void close(std::chrono::steady_clock::time_point deadline);
    /// After the scheduler has stopped: ends every link and module.
    void destroy();

    const ContextId& self() const noexcept { return self_; }
    const ExchangeOptions& options() const noexcept { return options_; }
    poll::Scheduler& scheduler() noexcept { return scheduler_; }
    Listener& listener() noexcept { return listener_; }
    const std::shared_ptr<const KnownTable>& own_table() const noexcept { return own_table_; }
    const std::vector<std::unique_ptr<Method>>& methods() const noexcept { return methods_; }
    /// By its name, or that of one of its rows.
    Method* find_method(std::string_view name) const noexcept;
    bool closing() const noexcept {
        return closing_.load(std::memory_order_relaxed);
    } // a hint; locks order the rest

    /// Goodbye has been said: no link is made any more, and none replaced.
    bool parted() const noexcept { return parted_.load(std::memory_order_relaxed); } // as closing()

    /// @thread any
    std::shared_ptr<Peer> peer(const ContextId& id);
    /// The route that pointers of that table share. @error closed (thrown)
    std::shared_ptr<detail::Route> way(const std::shared_ptr<Peer>& peer,
                                       const std::shared_ptr<const KnownTable>& table);
    /// Sends by the object that a request came by, or, where that is dead by now, by any way that
    /// leads to its peer. @thread any
    Status answer(Object& to, Frame& frame, std::string* why);
    /// What routes keep alive: the context that this is part of. @thread setup
    void set_keeper(std::weak_ptr<detail::Core> keeper) { keeper_ = std::move(keeper); }
    /// What holds here about a row: is its module present, does it apply, was it tried in vain.
    method::Applicable applicable(const Peer* peer, const Descriptor& row) const;
    /// The object for a row's method, with the row's parameters; made on first use.
    Object& object(Peer& peer, const Descriptor& row);
    /// The same if there is one already, else null.
    Object* find_object(Peer& peer, const Descriptor& row) const;
    /// `data` null: the module allocates it. @error what the module says. @thread any
    Result<Exposure> expose(Method& method, void* data, std::size_t size) PLEXUS_EXCLUDES(exposed_mutex_);
    /// Nobody uses it any more; frees what was allocated. destroy() does it for what is left. @thread any
    void withdraw(const Exposure& exposure) noexcept PLEXUS_EXCLUDES(exposed_mutex_);

    /// Said once per context and text.
    void warn_once(const std::string& text);
    std::uint32_t next_stream() noexcept { return next_stream_.fetch_add(1, std::memory_order_relaxed); }

    // For Object. @thread any
    Connection& new_connection(Method& method, Peer& peer, Object& object);
    void connect_failed(Connection& connection);
    /// A waiting thread can't leave while the scheduler is stopped: gives the end a chance.
    void pump_closing();

  private:
    // Host callbacks.
    static plexus_host make_host(Method& method);
    int32_t accepted(Method& method, plexus_link* link, const ContextId& who, void** cookie);
    void opened(Connection& connection);
    void deliver(Connection& connection, wire::View frame, Buffer* owned);
    int32_t place(Connection& connection, wire::View head, std::size_t rest, void** where, void** token);
    void placed(Connection& connection, Placement* placement, Status status);
    void lost(Connection& connection, Status status, const std::string& why);
    friend struct HostCalls;

    void take_control(Connection& connection, wire::Kind kind, wire::View frame);
    void take_hello(Connection& connection, wire::View frame);
    void take_recover(Connection& connection, const wire::StreamFrame& frame);
    static void remember(Peer& peer, std::uint32_t stream, std::uint64_t delivered);
    void take_goodbye(Connection& connection);
    void see_off(const std::shared_ptr<Peer>& peer);
    void refuse(Connection& connection, wire::View head, std::size_t bytes, bool memory);
    void account(Connection& connection, std::size_t bytes, std::uint8_t flags);
    void confirm(Connection& connection);
    void break_rules(Connection& connection, const char* how);

    std::chrono::nanoseconds chores();
    /// A link that is open and brings only: its peer's, or made when both sides connected at once.
    Connection* find_spare(const Object& object);
    /// Makes the links whose time has come; how long until the next.
    std::chrono::nanoseconds retry_links();
    void release_lost();
    void settle_failed();
    /// The object's method does not reach the peer: the next row, or none.
    void substitute(Object& object, Status status, const std::string& why);
    /// What the objects still held will not arrive: their waiters are told, and so is on_error().
    void abandon(Peer& peer, Status status, const std::string& why, Object::Estate estate);
    void say_goodbyes();
    void forget_gone();
    void withdraw_all() noexcept PLEXUS_EXCLUDES(exposed_mutex_);
    void declare_lost(Peer& peer, Status status, const std::string& why);

    const ContextId self_;
    const ExchangeOptions options_;
    poll::Scheduler& scheduler_;
    Listener& listener_;
    std::vector<std::unique_ptr<Method>> methods_;
    const loader::Modules* modules_ = nullptr;
    const config::Settings* settings_ = nullptr;
    std::shared_ptr<const KnownTable> own_table_;
    std::weak_ptr<detail::Core> keeper_;
    std::array<Sink, wire::kKinds> sinks_{};
    std::atomic<bool> closing_{false};
    std::atomic<bool> parted_{false};
    // [farewell] set by close(), cleared by the leader when all goodbyes are on their way.
    std::atomic<bool> farewell_{false};
    std::atomic<std::uint32_t> next_stream_{1};

    mutable RankedMutex<18> peers_mutex_;
    std::unordered_map<ContextId, std::shared_ptr<Peer>> peers_ PLEXUS_GUARDED_BY(peers_mutex_);
    std::vector<std::string> warned_ PLEXUS_GUARDED_BY(peers_mutex_);

    RankedMutex<36> exposed_mutex_;
    std::vector<std::pair<Method*, plexus_memory*>> exposed_ PLEXUS_GUARDED_BY(exposed_mutex_);

    RankedMutex<35> connections_mutex_;
    std::vector<std::unique_ptr<Connection>> connections_ PLEXUS_GUARDED_BY(connections_mutex_);
    std::vector<Connection*> failed_ PLEXUS_GUARDED_BY(connections_mutex_);

    // The leader's own.
    struct Retry {
        std::chrono::steady_clock::time_point when;
        std::shared_ptr<Peer> peer; ///< keeps the object
        Object* object;
    };
    std::vector<Retry> retries_;
    std::vector<Connection*> lost_;
    std::vector<Connection*> owing_;          ///< have delivered what they have not yet confirmed
    std::vector<std::shared_ptr<Peer>> gone_; ///< to be forgotten when nobody holds them
    std::chrono::steady_clock::time_point confirm_at_{};
};

} // namespace plexus::comm
