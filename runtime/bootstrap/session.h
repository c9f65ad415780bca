// SPDX-License-Identifier: BSD-3-Clause
// One client of a served directory: does the handshake, then passes the client's requests to the registry and
// the answers back. Until the client has proved the key, the session costs one socket and a few hundred
// bytes, for a bounded time. Io thread only.
#pragma once

#include "base/connection_counts.h"
#include "bootstrap/handshake.h"
#include "bootstrap/records.h"
#include "bootstrap/registry.h"

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <deque>

namespace plexus::bootstrap {

class Session : public std::enable_shared_from_this<Session> {
  public:
    /// How long a client may take to prove the key.
    static constexpr std::chrono::seconds kHandshakeTime{3};
    /// Above this many bytes of unread answers no further requests of the client are read.
    static constexpr std::size_t kLargestBacklog = std::size_t{1} * 1024 * 1024;
    /// Earlier requests are still answered: with values up to this sum of bytes, above it with short
    /// refusals. The number of refusals is bounded by the number of names that the client may wait for.
    static constexpr std::size_t kMostQueued = std::size_t{16} * 1024 * 1024;

    using Event = std::function<void(const std::shared_ptr<Session>&)>;
    using Named = std::function<void(std::string_view name)>;
    using Source = ConnectionCounts::Source;
    /// What the server hears of the session.
    struct Events {
        Event greeted;   ///< the client's hello shows the key: it may repeat that of another client
        Event joined;    ///< the client has proved the key
        Named published; ///< a name, before the client is told
        Event gone;      ///< once: the session has ended
    };

    /// `key` must outlive the session.
    Session(const std::shared_ptr<asio::io_context>& io, asio::ip::tcp::socket socket, const Key& key,
            std::shared_ptr<Registry> registry, Events events);

    void start();
    /// Takes what the socket has of the client's proof: the hello, then the confirm record. True: one of them
    /// was whole, or the session has ended.
    bool hear();
    /// Closes the connection and withdraws the client's names.
    void end(std::string_view why);
    /// The same by a reset, by which a client that has not proved the key knows that it may try again.
    void evict(std::string_view why);

    /// The client has sent no whole hello yet.
    bool is_silent() const noexcept { return silent_; }
    const Source& source() const noexcept { return source_; }

  private:
    void await_proof();
    void take_hello();
    void take_confirm();
    /// The client has proved the key.
    bool is_known() const noexcept { return user_ != 0; }
    void read_length();
    void read_frame(std::size_t length);
    void take(Frame frame);
    void lookup(const Frame& question, Clock::time_point deadline);
    void answer(std::uint32_t request, const Result<void>& outcome);
    void answer(std::uint32_t request, const std::string& name, const Result<Registry::Payload>& outcome);
    void queue(Bytes head, Registry::Payload value);
    void write_next();
    /// A callback that brings a result back to this thread and passes it on.
    template <class T, class Answer>
    std::function<void(Result<T>)> on_this_thread(Answer answer);
    template <class Next>
    void read(std::size_t size, Next next);

    const std::weak_ptr<asio::io_context> io_;
    asio::ip::tcp::socket socket_;
    asio::steady_timer handshake_timer_;
    ServerHandshake handshake_;
    const std::shared_ptr<Registry> registry_;
    Events events_;           // without `gone` when the session has ended
    const std::string where_; // the client's address, for the log
    const Source source_;
    bool silent_ = true;
    std::size_t heard_ = 0; // bytes of the hello, then of the confirm record
    Registry::User user_ = 0;
    Bytes incoming_;
    /// One frame; the value at its end, if it has one, is shared with others.
    struct Outgoing {
        Bytes head;
        Registry::Payload value;
    };
    std::deque<Outgoing> outgoing_;
    std::size_t backlog_bytes_ = 0;
    bool reading_ = false;
};

} // namespace plexus::bootstrap
