// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/client.h"

#include "base/log.h"

#include <algorithm>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

namespace plexus::bootstrap {

Client::Client(const std::shared_ptr<asio::io_context>& io, asio::ip::tcp::socket socket, std::string url)
  : io_(io)
  , socket_(std::move(socket))
  , timer_(*io)
  , url_(std::move(url)) {}

Failure Client::lost(std::string_view why) const {
    return fail(Status::peer_lost, "the directory at {} is gone: {}", url_, why);
}

void Client::ask(Frame question, Clock::time_point deadline, Answered answered) {
    const auto io = io_.lock();
    if (!io) {
        if (answered) answered(Failure{Status::closed, "the directory is closing"});
        return;
    }
    asio::post(*io, [self = shared_from_this(), question = std::move(question), deadline,
                     answered = std::move(answered)]() mutable {
        self->send(std::move(question), deadline, std::move(answered));
    });
}

void Client::send(Frame question, Clock::time_point deadline, Answered answered) {
    if (ended_.status != Status::ok) {
        if (answered) answered(ended_);
        return;
    }
    if (answered) {
        do { ++last_request_; } while (pending_.contains(last_request_));
        question.request = last_request_;
        // Compared before the slack is added: a deadline may be the end of time.
        const auto latest = Clock::now() + kLongestTimeout;
        pending_.emplace(last_request_,
                         Pending{std::min(deadline, latest) + kServerSlack, std::move(answered)});
        watch_deadlines();
    }
    outgoing_.push_back(encode(question));
    if (outgoing_.size() == 1) write_next();
}

void Client::end(Failure why) {
    if (ended_.status != Status::ok) return;
    ended_ = std::move(why);
    std::error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
    const auto unanswered = std::exchange(pending_, {});
    for (const auto& [request, pending] : unanswered) pending.answered(ended_);
}

void Client::read_length() {
    incoming_.resize(kLengthBytes);
    asio::async_read(socket_, asio::buffer(incoming_),
                     [self = shared_from_this()](const std::error_code& error, std::size_t) {
                         if (error) return self->end(self->lost(error.message()));
                         const auto length =
                             decode_length(std::span<const std::byte, kLengthBytes>(self->incoming_));
                         if (!length) return self->end(self->lost("it sent a frame of an impossible length"));
                         self->read_frame(*length);
                     });
}

void Client::read_frame(std::size_t length) {
    incoming_.resize(length);
    asio::async_read(socket_, asio::buffer(incoming_),
                     [self = shared_from_this()](const std::error_code& error, std::size_t) {
                         if (error) return self->end(self->lost(error.message()));
                         auto frame = decode(self->incoming_);
                         if (!frame || frame->kind != Kind::answer)
                             return self->end(self->lost("it sent a frame that means nothing"));
                         self->take(std::move(*frame));
                         if (self->ended_.status == Status::ok) self->read_length();
                     });
}

void Client::take(Frame answer) {
    auto asked = pending_.extract(answer.request);
    if (asked.empty()) return; // given up before
    const Answered& answered = asked.mapped().answered;
    if (answer.status == Status::ok) return answered(std::move(answer.value));
    const auto* text = reinterpret_cast<const char*>(answer.value.data());
    answered(Failure{answer.status, std::string(text, answer.value.size())});
}

void Client::write_next() {
    asio::async_write(socket_, asio::buffer(outgoing_.front()),
                      [self = shared_from_this()](const std::error_code& error, std::size_t) {
                          if (error) return self->end(self->lost(error.message()));
                          self->outgoing_.pop_front();
                          if (!self->outgoing_.empty()) self->write_next();
                      });
}

void Client::watch_deadlines() {
    auto next = Clock::time_point::max();
    for (const auto& [request, pending] : pending_) next = std::min(next, pending.deadline);
    if (next == Clock::time_point::max()) return;
    timer_.expires_at(next);
    timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
        if (error || self->ended_.status != Status::ok) return;
        const auto now = Clock::now();
        const bool silent = std::any_of(self->pending_.begin(), self->pending_.end(),
                                        [&](const auto& one) { return one.second.deadline <= now; });
        if (silent) return self->end(self->lost("it does not answer any more"));
        self->watch_deadlines();
    });
}

} // namespace plexus::bootstrap
