// SPDX-License-Identifier: BSD-3-Clause
// A guest's connection to a served directory after it was let in: questions out, answers
// back to whoever asked. Knows no names. Io thread only, but for ask().
#pragma once

#include "bootstrap/records.h"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>

namespace plexus::bootstrap {

class GuestLink : public std::enable_shared_from_this<GuestLink> {
  public:
    using Answered = std::function<void(Result<Bytes>)>;

    /// The server keeps the deadlines; this much later it counts as lost.
    static constexpr std::chrono::seconds kServerSlack{5};

    GuestLink(const std::shared_ptr<asio::io_context>& io, asio::ip::tcp::socket socket, std::string url);

    void start() { read_length(); }

    /// Sends `question` (its request number is filled in). `answered` is called once, on
    /// the io thread; none is wanted if it is empty. @thread any
    void ask(Frame question, Clock::time_point deadline, Answered answered);

    /// Ends the connection: whoever waits is told `why`, and so is who asks later.
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
