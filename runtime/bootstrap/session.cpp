// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/session.h"

#include "base/log.h"

#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

namespace plexus::bootstrap {
namespace {

std::string address_of(const asio::ip::tcp::socket& socket) {
    std::error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    return error ? "an unknown address"
                 : fmt::format("{} port {}", endpoint.address().to_string(), endpoint.port());
}

} // namespace

Session::Session(const std::shared_ptr<asio::io_context>& io, asio::ip::tcp::socket socket, const Key& key,
                 std::shared_ptr<Book> book, Event entered, Event gone)
  : io_(io)
  , socket_(std::move(socket))
  , entry_timer_(*io)
  , host_(key)
  , book_(std::move(book))
  , entered_(std::move(entered))
  , gone_(std::move(gone))
  , where_(address_of(socket_)) {}

void Session::start() {
    entry_timer_.expires_after(kEntryTime);
    entry_timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
        if (!error) self->end("it did not prove the job's key in time");
    });
    read_hello();
}

void Session::end(std::string_view why) {
    if (!gone_) return;
    log::info("bootstrap", "{} left the directory: {}", where_, why);
    std::error_code ignored;
    entry_timer_.cancel();
    socket_.close(ignored);
    if (user_ != 0) book_->leave(std::exchange(user_, 0));
    std::exchange(gone_, nullptr)(shared_from_this());
}

template <class Next>
void Session::read(std::size_t size, Next next) {
    incoming_.resize(size);
    asio::async_read(socket_, asio::buffer(incoming_),
                     [self = shared_from_this(), next](const std::error_code& error, std::size_t) {
                         if (!self->gone_) return;
                         if (error) return self->end(error.message());
                         next(*self);
                     });
}

void Session::read_hello() {
    read(kHelloBytes, [](Session& me) {
        Bytes record = me.host_.take_hello(std::span<const std::byte, kHelloBytes>(me.incoming_));
        if (record.empty()) return me.end("it does not hold the job's key");
        // Read on at once: the confirm record is due whether or not the answer is gone yet.
        me.backlog_bytes_ += record.size();
        me.outgoing_.push_back(std::move(record));
        me.write_next();
        me.read_confirm();
    });
}

void Session::read_confirm() {
    read(kConfirmBytes, [](Session& me) {
        if (!me.host_.take_confirm(std::span<const std::byte, kConfirmBytes>(me.incoming_)))
            return me.end("it played a recorded greeting again, without the job's key");
        me.entry_timer_.cancel();
        me.user_ = me.book_->enter();
        log::info("bootstrap", "context {} joined the directory from {}", to_string(me.host_.guest()),
                  me.where_);
        me.entered_(me.shared_from_this());
        me.read_length();
    });
}

void Session::read_length() {
    reading_ = backlog_bytes_ <= kLargestBacklog;
    if (!reading_) return; // write_next() resumes
    read(kLengthBytes, [](Session& me) {
        const auto length = decode_length(std::span<const std::byte, kLengthBytes>(me.incoming_));
        if (!length) {
            log::warn("bootstrap",
                      "context {} sent a frame of an impossible length: its connection is closed",
                      to_string(me.host_.guest()));
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
                      to_string(me.host_.guest()));
            return me.end("a frame that means nothing");
        }
        me.take(std::move(*frame));
        if (me.gone_) me.read_length();
    });
}

void Session::take(Frame frame) {
    const auto deadline = Clock::now() + frame.patience;
    switch (frame.kind) {
    case Kind::publish:
        if (const auto outcome = book_->publish(user_, frame.name, frame.value); outcome) {
            answer(frame.request, Status::ok, {});
        } else {
            answer(frame.request, outcome.failure());
        }
        break;
    case Kind::unpublish:
        book_->unpublish(user_, frame.name);
        break;
    case Kind::lookup:
        book_->lookup(user_, frame.name, deadline, replier<Bytes>(frame.request));
        break;
    case Kind::fence:
        book_->fence(user_, deadline, replier<void>(frame.request));
        break;
    case Kind::answer:
        break;
    }
}

template <class T>
std::function<void(Result<T>)> Session::replier(std::uint32_t request) {
    // The book may answer on any thread, and may outlive this session.
    return [weak = weak_from_this(), weak_io = io_, request](Result<T> outcome) {
        const auto io = weak_io.lock();
        if (!io) return;
        asio::post(*io, [weak, request, outcome = std::move(outcome)] {
            const auto self = weak.lock();
            if (!self || !self->gone_) return;
            if (!outcome) return self->answer(request, outcome.failure());
            if constexpr (std::is_void_v<T>) {
                self->answer(request, Status::ok, {});
            } else {
                self->answer(request, Status::ok, *outcome);
            }
        });
    };
}

void Session::answer(std::uint32_t request, const Failure& failure) {
    answer(request, failure.status, std::as_bytes(std::span(failure.why)));
}

void Session::answer(std::uint32_t request, Status status, std::span<const std::byte> value) {
    Frame frame;
    frame.kind = Kind::answer;
    frame.request = request;
    frame.status = status;
    frame.value.assign(value.begin(), value.end());
    outgoing_.push_back(encode(frame));
    backlog_bytes_ += outgoing_.back().size();
    if (outgoing_.size() == 1) write_next();
}

void Session::write_next() {
    asio::async_write(socket_, asio::buffer(outgoing_.front()),
                      [self = shared_from_this()](const std::error_code& error, std::size_t size) {
                          if (!self->gone_) return;
                          if (error) return self->end(error.message());
                          self->outgoing_.pop_front();
                          self->backlog_bytes_ -= size;
                          if (!self->outgoing_.empty()) self->write_next();
                          if (self->user_ != 0 && !self->reading_) self->read_length();
                      });
}

} // namespace plexus::bootstrap
