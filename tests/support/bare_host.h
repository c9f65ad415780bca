// SPDX-License-Identifier: BSD-3-Clause
// Drives one module's function table directly, without the runtime: the host of a single
// context that records what the module calls back, and watches that it keeps abi.h. A
// promise that breaks inside a callback is reported by report_violation().
//
// Poll from one thread at a time (poll() sees to it); everything else from any thread.
// Hooks are set before traffic starts and run on the polling thread, under no lock of
// this file; they may send, connect and disconnect.
#pragma once

#include "support/eventually.h"
#include "support/methods.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace plexus::testing {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;
using JobKey = std::array<std::uint8_t, 32>;

class BareHost;

/// One end of a link, as its host sees it: the cookie of every callback about it. Lives
/// as long as its host.
class End {
  public:
    End(BareHost& owner, bool came_in)
      : host(owner)
      , accepted(came_in) {}

    BareHost& host;
    const bool accepted;
    plexus_id peer{};

    bool is_open() const { return opened_ && !lost_; }
    bool is_opened() const { return opened_; }
    bool is_lost() const { return lost_; }
    std::int32_t lost_status() const;
    std::string lost_why() const;

    /// The next message that no hook took, oldest first.
    std::optional<Bytes> take();
    std::uint64_t received() const { return received_; }   ///< messages, whichever way they came
    std::uint64_t placed() const { return placed_; }       ///< those of them that came by place
    std::uint64_t arriving() const { return arriving_; }   ///< signs of messages that were not whole yet
    std::uint64_t writable() const { return writable_; }   ///< calls of `writable` and `opened`
    std::uint64_t completed() const { return completed_; } ///< posted sends that `sent` ended
    std::uint64_t posted() const { return posted_; }       ///< sends that were posted

  private:
    friend class BareHost;
    // The host's lock of this link: held over connect, send, set and disconnect.
    std::mutex calls_;
    plexus_link* link_ = nullptr;

    struct Waiting {
        std::shared_ptr<const Bytes> message;
        std::size_t head;
        std::uint32_t pieces;
    };
    std::mutex order_; // of push(); taken before calls_
    std::deque<Waiting> backlog_;

    mutable std::mutex records_;
    std::deque<Bytes> inbox_;
    std::int32_t lost_status_ = PLEXUS_OK;
    std::string lost_why_;

    // Counters that tests wait for; what they count is read under records_.
    std::atomic<bool> opened_{false};
    std::atomic<bool> lost_{false};
    std::atomic<std::uint64_t> given_up_in_{UINT64_MAX}; // the poll after which no callback may name it
    std::atomic<std::uint64_t> received_{0};
    std::atomic<std::uint64_t> placed_{0};
    std::atomic<std::uint64_t> arriving_{0};
    std::atomic<std::uint64_t> writable_{0};
    std::atomic<std::uint64_t> posted_{0};
    std::atomic<std::uint64_t> completed_{0};
};

struct BareOptions {
    std::optional<plexus_id> id;                 ///< otherwise random
    JobKey key{1, 2, 3};                         ///< the job's
    std::map<std::string, std::string> settings; ///< over the presets; "tcp.sndbuf" for an inner module
};

inline BareOptions with(std::map<std::string, std::string> settings) {
    BareOptions options;
    options.settings = std::move(settings);
    return options;
}

/// What the tests step into. An empty hook: the default that its comment names.
struct Hooks {
    std::function<std::int32_t(End&)> accepted;           ///< OK
    std::function<void(End&)> opened;                     ///< nothing
    std::function<void(End&, ByteView)> message;          ///< kept for End::take()
    std::function<std::int32_t(End&, std::size_t)> place; ///< OK, for that many bytes after the head
    std::function<void(End&)> writable;                   ///< nothing
    std::function<void(End&, std::int32_t)> sent;         ///< nothing
    std::function<void(End&)> lost; ///< disconnect, as abi.h asks; with a hook, its task
};

/// The module refused to open: its status, and what it logged.
struct OpenFailed : std::runtime_error {
    OpenFailed(std::int32_t code, const std::string& text, std::vector<std::string> lines)
      : std::runtime_error(text)
      , status(code)
      , log(std::move(lines)) {}
    std::int32_t status;
    std::vector<std::string> log; ///< as log_lines()
};

class BareHost {
  public:
    /// Opens the module. Throws OpenFailed.
    explicit BareHost(const Method& method, BareOptions options = {});
    /// Closes, drains, destroys what shut_down() has not.
    ~BareHost();
    BareHost(const BareHost&) = delete;
    BareHost& operator=(const BareHost&) = delete;

    Hooks hooks;

    const plexus_id& id() const noexcept { return table_.id; }
    const plexus_ops& ops() const noexcept { return method_.ops; }
    plexus_module* module() const noexcept { return module_; }
    const std::string& name() const noexcept { return method_.name; }

    struct Row {
        std::string label;
        Bytes descriptor;
    };
    /// As the module describes them. Throws std::runtime_error if it has none.
    std::vector<Row> rows() const;
    /// Of the first row.
    Bytes descriptor() const { return rows().front().descriptor; }
    /// The module's answer about `descriptor`, and its reason.
    std::int32_t applies(ByteView descriptor, std::string* why = nullptr);
    std::uint64_t query(plexus_query what, End* end = nullptr);

    /// Starts a link; null if the module answered with anything but OK (see *status).
    End* connect(ByteView descriptor, const plexus_id& peer, std::int32_t* status = nullptr);
    void disconnect(End& end);
    std::int32_t set(End& end, const char* key, const char* value, std::string* why = nullptr);

    /// Sends once: what the module answered. A posted message is kept until `sent`. The
    /// first `head` bytes are piece 0, the rest is cut into `pieces - 1` more.
    std::int32_t send(End& end, std::shared_ptr<const Bytes> message, std::size_t head, std::uint32_t pieces);
    /// Sends now, or as soon as `writable` says so, in the order of these calls. False: the
    /// module refused the message for good.
    bool push(End& end, std::shared_ptr<const Bytes> message, std::size_t head = 24,
              std::uint32_t pieces = 2);
    /// Sends once, without keeping anything: the pieces are the caller's affair.
    std::int32_t send_pieces(End& end, std::span<const plexus_view> pieces);

    /// Remote memory, as the slots of the same names; a posted transfer counts as a posted send.
    std::int32_t attach(End& end, ByteView key, plexus_remote_key** remote);
    void detach(End& end, plexus_remote_key* remote);
    std::int32_t get(End& end, plexus_remote_key* remote, std::uint64_t offset, std::span<std::byte> into);
    std::int32_t put(End& end, plexus_remote_key* remote, std::uint64_t offset, ByteView from);

    std::int32_t poll(std::uint32_t budget = 32);
    std::int32_t arm(std::uint64_t* sleep_ns);
    int wait_fd();
    /// Arms and sleeps: true if there was, or came, work within `limit`.
    bool sleep(std::chrono::milliseconds limit);

    /// Ends that came in, in order.
    std::vector<End*> incoming() const;
    std::size_t incoming_count() const { return incoming_count_; }
    /// Every line that the module logged, with "error:", "warn:", … before it.
    std::vector<std::string> log_lines() const;

    /// The teardown in steps; each may be called once, the destructor calls what is left.
    void close();
    void drain();
    void destroy();

    const plexus_host& table() const noexcept { return table_; }

  private:
    struct Placement {
        End* end;
        std::unique_ptr<std::byte, void (*)(void*)> room;
        std::byte* head;
        std::size_t size;
    };
    struct Calls; // the C functions of the host's table
    void fill_table();

    End& adopt(bool accepted);
    bool check_callback(const char* what, End* end, bool while_draining = false);
    void finish(End& end, ByteView message);
    bool send_backlog(End& end);
    template <class Call>
    std::int32_t post(End& end, std::shared_ptr<const Bytes> kept, Call&& call);

    Method method_;
    BareOptions options_;
    plexus_host table_{};
    plexus_module* module_ = nullptr;

    std::mutex polling_;
    std::atomic<std::uint64_t> polls_{0};
    std::atomic<std::thread::id> polling_thread_{};
    std::atomic<bool> draining_{false};
    std::atomic<bool> drained_{false};
    bool closed_ = false;
    bool destroyed_ = false;

    mutable std::mutex mutex_; // what follows
    std::deque<std::unique_ptr<End>> ends_;
    std::vector<End*> incoming_;
    std::map<void*, std::pair<End*, std::shared_ptr<const Bytes>>> posted_;
    std::map<void*, Placement> placements_;
    std::uintptr_t next_token_ = 1;
    std::vector<std::string> log_;
    std::atomic<std::size_t> incoming_count_{0};
};

plexus_id random_id();

/// Polls every host in turn until `done()`, or false when `limit` has passed.
template <class Done>
bool pump(std::initializer_list<BareHost*> hosts, std::chrono::nanoseconds limit, Done&& done) {
    return eventually(limit, [&] {
        for (BareHost* host : hosts) host->poll();
        return done();
    });
}

/// Polls one host from a thread of its own until the end of the scope.
class Poller {
  public:
    explicit Poller(BareHost& host);
    ~Poller();
    Poller(const Poller&) = delete;
    Poller& operator=(const Poller&) = delete;

  private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/// Two contexts in this process, the first connected to the second.
struct Pair {
    /// Throws std::runtime_error if the link does not come up within ten seconds.
    explicit Pair(const Method& method, const BareOptions& a = {}, const BareOptions& b = {});

    BareHost a;
    BareHost b;
    End* to_b = nullptr; ///< at a
    End* to_a = nullptr; ///< at b

    template <class Done>
    bool pump(std::chrono::nanoseconds limit, Done&& done) {
        return plexus::testing::pump({&a, &b}, limit, std::forward<Done>(done));
    }
    /// Forks a child that ends its copies of both contexts: the child's exit code, 0 if all is well. No other
    /// thread may run.
    int end_in_a_child();
};

/// Connects `from` to `to` and polls both until both ends are there; null when ten seconds
/// have passed. The far end is written to *far.
End* link_up(BareHost& from, BareHost& to, End** far = nullptr);

} // namespace plexus::testing
