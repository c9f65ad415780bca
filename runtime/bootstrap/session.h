// SPDX-License-Identifier: BSD-3-Clause
// One guest of a served directory: lets it in, then carries its questions to the book and
// the answers back. Until the guest has proved the key, it costs one socket and a few
// hundred bytes, for a bounded time. Io thread only.
#pragma once

#include "bootstrap/book.h"
#include "bootstrap/entry.h"
#include "bootstrap/records.h"

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <deque>

namespace plexus::bootstrap {

class Session : public std::enable_shared_from_this<Session> {
  public:
    /// How long a guest may take to prove the key.
    static constexpr std::chrono::seconds kEntryTime{3};
    /// A guest that does not read its answers is not listened to either.
    static constexpr std::size_t kLargestBacklog = std::size_t{1} * 1024 * 1024;
    /// What it asked before is answered all the same: with values up to this sum of bytes, beyond that
    /// with short refusals, of which there are as many as it may wait for names.
    static constexpr std::size_t kMostQueued = std::size_t{16} * 1024 * 1024;

    using Event = std::function<void(const std::shared_ptr<Session>&)>;
    using Named = std::function<void(std::string_view name)>;

    /// `key` must outlive the session; `entered` is called when the guest has proved it,
    /// `published` before it hears that a name is published, `gone` once, when the session has ended.
    Session(const std::shared_ptr<asio::io_context>& io, asio::ip::tcp::socket socket, const Key& key,
            std::shared_ptr<Book> book, Event entered, Named published, Event gone);

    void start();
    /// Closes the door; the guest's names are withdrawn.
    void end(std::string_view why);

  private:
    void read_hello();
    void read_confirm();
    void read_length();
    void read_frame(std::size_t length);
    void take(Frame frame);
    void lookup(const Frame& question, Clock::time_point deadline);
    void answer(std::uint32_t request, const Result<void>& outcome);
    void answer(std::uint32_t request, const std::string& name, const Result<Book::Payload>& outcome);
    void queue(Bytes head, Book::Payload value);
    void write_next();
    /// A callback that brings a result back to this thread and passes it on.
    template <class T, class Answer>
    std::function<void(Result<T>)> on_this_thread(Answer answer);
    template <class Next>
    void read(std::size_t size, Next next);

    const std::weak_ptr<asio::io_context> io_;
    asio::ip::tcp::socket socket_;
    asio::steady_timer entry_timer_;
    Host host_;
    const std::shared_ptr<Book> book_;
    Event entered_, gone_;
    const Named published_;
    std::string where_; // the guest's address, for the log
    Book::User user_ = 0;
    Bytes incoming_;
    /// One frame; the value at its end, if it has one, is shared with others.
    struct Outgoing {
        Bytes head;
        Book::Payload value;
    };
    std::deque<Outgoing> outgoing_;
    std::size_t backlog_bytes_ = 0;
    bool reading_ = false;
};

} // namespace plexus::bootstrap
