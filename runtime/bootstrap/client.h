// SPDX-License-Identifier: BSD-3-Clause
// A client's connection to a served directory after the handshake: sends requests, and passes each answer to
// the request's callback. Knows no names. Io thread only, except ask().
#pragma once

#include "bootstrap/records.h"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>

namespace plexus::bootstrap {

class Client : public std::enable_shared_from_this<Client> {
  public:
    using Answered = std::function<void(Result<Bytes>)>;

    /// The server keeps the deadlines; if an answer is this much late, the server counts as lost.
    static constexpr std::chrono::seconds kServerSlack{5};

    Client(const std::shared_ptr<asio::io_context>& io, asio::ip::tcp::socket socket, std::string url);

    void start() { read_length(); }

    /// Sends `question` (its request number is filled in). `answered` is called once, on the io thread; if it
    /// is empty no answer is expected. @thread any
    void ask(Frame question, Clock::time_point deadline, Answered answered);

    /// Ends the connection: pending and later requests fail with `why`.
    void end(Failure why);

  private:
    struct Pending {
        Clock::time_point deadline;
        Answered answered;
    };

    void send(Frame question, Clock::time_point deadline, Answered answered);
    void read_length();
    void read_frame(std::size_t length);
    void take(Frame answer);
    void write_next();
    void watch_deadlines();
    Failure lost(std::string_view why) const;

    const std::weak_ptr<asio::io_context> io_;
    asio::ip::tcp::socket socket_;
    asio::steady_timer timer_;
    const std::string url_;
    Failure ended_{Status::ok, {}};
    std::uint32_t last_request_ = 0;
    std::map<std::uint32_t, Pending> pending_;
    std::deque<Bytes> outgoing_;
    Bytes incoming_;
};

} // namespace plexus::bootstrap
