// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/session.h"

#include "base/log.h"

#include <array>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace plexus::bootstrap {
namespace {

std::string address_of(const asio::ip::tcp::socket& socket) {
    std::error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    return error ? "an unknown address"
                 : fmt::format("{} port {}", endpoint.address().to_string(), endpoint.port());
}

Session::Source source_of(const asio::ip::tcp::socket& socket) {
    std::error_code error;
    const auto address = socket.remote_endpoint(error).address();
    return address.is_v4() ? ConnectionCounts::source_of(address.to_v4().to_bytes())
                           : ConnectionCounts::source_of(address.to_v6().to_bytes());
}

} // namespace

Session::Session(const std::shared_ptr<asio::io_context>& io, asio::ip::tcp::socket socket, const Key& key,
                 std::shared_ptr<Registry> registry, Events events)
  : io_(io)
  , socket_(std::move(socket))
  , handshake_timer_(*io)
  , handshake_(key)
  , registry_(std::move(registry))
  , events_(std::move(events))
  , where_(address_of(socket_))
  , source_(source_of(socket_))
  , incoming_(kHelloBytes) {}

void Session::start() {
    handshake_timer_.expires_after(kHandshakeTime);
    handshake_timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
        // Who has joined since may find that the timer's end was queued before it was cancelled.
        if (!error && !self->is_known()) self->evict("it did not prove the job's key in time");
    });
    await_proof();
}

void Session::end(std::string_view why) {
    if (!events_.gone) return;
    log::info("bootstrap", "{} left the directory: {}", where_, why);
    std::error_code ignored;
    handshake_timer_.cancel();
    socket_.close(ignored);
    if (user_ != 0) registry_->leave(std::exchange(user_, 0));
    std::exchange(events_.gone, nullptr)(shared_from_this());
}

void Session::evict(std::string_view why) {
    std::error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    end(why);
}

template <class Next>
void Session::read(std::size_t size, Next next) {
    incoming_.resize(size);
    asio::async_read(socket_, asio::buffer(incoming_),
                     [self = shared_from_this(), next](const std::error_code& error, std::size_t) {
                         if (!self->events_.gone) return;
                         if (error) return self->end(error.message());
                         next(*self);
                     });
}

void Session::await_proof() {
    socket_.async_wait(asio::ip::tcp::socket::wait_read,
                       [self = shared_from_this()](const std::error_code& error) {
                           if (!self->events_.gone || self->is_known()) return;
                           if (error) return self->end(error.message());
                           self->hear();
                           if (self->events_.gone && !self->is_known()) self->await_proof();
                       });
}

bool Session::hear() {
    bool further = false;
    while (events_.gone && !is_known()) {
        const std::size_t whole = silent_ ? kHelloBytes : kConfirmBytes;
        const ssize_t got =
            ::recv(socket_.native_handle(), incoming_.data() + heard_, whole - heard_, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return further;
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            end(got == 0 ? "it left before it had proved the job's key" : std::strerror(errno));
            return true;
        }
        heard_ += static_cast<std::size_t>(got);
        if (heard_ < whole) continue;
        heard_ = 0;
        further = true;
        if (silent_) {
            take_hello();
        } else {
            take_confirm();
        }
    }
    return further;
}

void Session::take_hello() {
    Bytes record = handshake_.take_hello(std::span<const std::byte, kHelloBytes>(incoming_));
    if (record.empty()) return end("it does not hold the job's key");
    silent_ = false;
    events_.greeted(shared_from_this());
    queue(std::move(record), nullptr);
}

void Session::take_confirm() {
    if (!handshake_.take_confirm(std::span(incoming_).first<kConfirmBytes>()))
        return end("it replayed the hello of another client, without the job's key");
    handshake_timer_.cancel();
    user_ = registry_->enter();
    log::info("bootstrap", "context {} joined the directory from {}", to_string(handshake_.client()), where_);
    events_.joined(shared_from_this());
    read_length();
}

void Session::read_length() {
    reading_ = backlog_bytes_ <= kLargestBacklog;
    if (!reading_) return; // write_next() resumes
    read(kLengthBytes, [](Session& me) {
        const auto length = decode_length(std::span<const std::byte, kLengthBytes>(me.incoming_));
        if (!length) {
            log::warn("bootstrap",
                      "context {} sent a frame of an impossible length: its connection is closed",
                      to_string(me.handshake_.client()));
            return me.end("a frame of an impossible length");
        }
        me.read_frame(*length);
    });
}

void Session::read_frame(std::size_t length) {
    read(length, [](Session& me) {
        auto frame = decode(me.incoming_);
        if (!frame || frame->kind == Kind::answer) {
            log::warn("bootstrap", "context {} sent a frame that means nothing: its connection is closed",
                      to_string(me.handshake_.client()));
            return me.end("a frame that means nothing");
        }
        me.take(std::move(*frame));
        if (me.events_.gone) me.read_length();
    });
}

void Session::take(Frame frame) {
    const auto deadline = Clock::now() + frame.timeout;
    switch (frame.kind) {
    case Kind::publish: {
        const auto outcome = registry_->publish(user_, frame.name, frame.value);
        if (outcome) events_.published(frame.name);
        answer(frame.request, outcome);
        break;
    }
    case Kind::unpublish:
        registry_->unpublish(user_, frame.name);
        break;
    case Kind::lookup:
        lookup(frame, deadline);
        break;
    case Kind::fence:
        registry_->fence(
            user_, deadline,
            on_this_thread<void>([request = frame.request](Session& me, const Result<void>& outcome) {
                me.answer(request, outcome);
            }));
        break;
    case Kind::answer:
        break;
    }
}

void Session::lookup(const Frame& question, Clock::time_point deadline) {
    registry_->lookup(
        user_, question.name, deadline,
        on_this_thread<Registry::Payload>([request = question.request, name = question.name](
                                              Session& me, const Result<Registry::Payload>& outcome) {
            me.answer(request, name, outcome);
        }));
}

template <class T, class Answer>
std::function<void(Result<T>)> Session::on_this_thread(Answer answer) {
    // The registry may answer on any thread and may outlive this session.
    return [weak = weak_from_this(), weak_io = io_, answer = std::move(answer)](Result<T> outcome) {
        const auto io = weak_io.lock();
        if (!io) return;
        asio::post(*io, [weak, answer, outcome = std::move(outcome)] {
            const auto self = weak.lock();
            if (self && self->events_.gone) answer(*self, outcome);
        });
    };
}

void Session::answer(std::uint32_t request, const Result<void>& outcome) {
    Frame frame;
    frame.kind = Kind::answer;
    frame.request = request;
    frame.status = outcome.status();
    if (!outcome) {
        const auto why = std::as_bytes(std::span(outcome.failure().why));
        frame.value.assign(why.begin(), why.end());
    }
    queue(encode(frame), nullptr);
}

void Session::answer(std::uint32_t request, const std::string& name,
                     const Result<Registry::Payload>& outcome) {
    if (!outcome) return answer(request, Result<void>(outcome.failure()));
    if (backlog_bytes_ + (*outcome)->size() > kMostQueued)
        return answer(request,
                      Result<void>(fail(Status::busy,
                                        "the value of \"{}\" does not fit behind {} MiB of answers that this "
                                        "context has not read yet: read them, and look it up again",
                                        name, kMostQueued / (1024 * 1024))));
    queue(encode_answer_head(request, (*outcome)->size()), *outcome);
}

void Session::queue(Bytes head, Registry::Payload value) {
    backlog_bytes_ += head.size() + (value ? value->size() : 0);
    outgoing_.push_back({std::move(head), std::move(value)});
    if (outgoing_.size() == 1) write_next();
}

void Session::write_next() {
    const Outgoing& first = outgoing_.front();
    const std::array<asio::const_buffer, 2> buffers{
        asio::buffer(first.head), first.value ? asio::buffer(*first.value) : asio::const_buffer()};
    asio::async_write(socket_, buffers,
                      [self = shared_from_this()](const std::error_code& error, std::size_t size) {
                          if (!self->events_.gone) return;
                          if (error) return self->end(error.message());
                          self->outgoing_.pop_front();
                          self->backlog_bytes_ -= size;
                          if (!self->outgoing_.empty()) self->write_next();
                          if (self->user_ != 0 && !self->reading_) self->read_length();
                      });
}

} // namespace plexus::bootstrap
