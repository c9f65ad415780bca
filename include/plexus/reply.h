// SPDX-License-Identifier: BSD-3-Clause
// Answers that are given after the handler has returned. A handler takes a Reply as its last
// parameter, or returns a Future, also as a coroutine:
//
//     here.on(probe, [](Ocean& o, int i, plexus::Reply<double> reply) {
//     o.waiting.push_back(std::move(reply)); }); here.on(probe, [](Ocean& o, int i) -> plexus::Future<double>
//     { co_return co_await o.far.call(probe, i); });
//
// Spans and views among the arguments are valid until the handler returns, or first waits.
#pragma once

#include "plexus/archive.h"
#include "plexus/error.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace plexus {

namespace detail {

/// What the runtime keeps of a request that is not answered yet. Answers once; if nobody has when it
/// ends, the caller is told that. @thread any
class PLEXUS_API Deferred {
  public:
    virtual ~Deferred();
    /// `result` leaves kReplyHeader bytes at its start. False: it was answered before.
    virtual bool answer(Writer& result) = 0;
    virtual bool fail(Status status, std::string_view why) = 0;
    /// The request will be answered in another way. False: it was answered before.
    virtual bool give_up() noexcept = 0;
};
inline constexpr std::size_t kReplyHeader = 16;

} // namespace detail

/// The answer that one request is owed. Movable; may be kept and used on any thread, also when the
/// object or the context is gone. If it is dropped unused, the caller's future fails with
/// handler_threw. Of a one-way request: what it sends goes nowhere.
template <class R>
class [[nodiscard]] Reply {
  public:
    Reply() = default;
    explicit Reply(std::shared_ptr<detail::Deferred> to) noexcept
      : to_(std::move(to)) {}

    /// False: it was used, moved from, or made empty.
    explicit operator bool() const noexcept { return to_ != nullptr; }

    /// Sends the result; void has none. @error bad_argument it was used before (thrown)
    template <class... Value>
    requires(std::is_void_v<R> ? sizeof...(Value) == 0
                               : sizeof...(Value) == 1 && (std::is_convertible_v<const Value&, R> &&
                                                           ...)) void send(const Value&... value) {
        const auto to = take();
        detail::Writer result(detail::kReplyHeader);
        if constexpr (!std::is_void_v<R>) {
            const R whole(value...);
            result.put(whole);
            result.own();
            to->answer(result);
        } else {
            to->answer(result);
        }
    }
    /// The caller's future fails so. @error bad_argument as send() (thrown)
    void fail(Status status, std::string_view why) { take()->fail(status, why); }

  private:
    std::shared_ptr<detail::Deferred> take() {
        if (to_ == nullptr) throw Error(Status::bad_argument, "a reply was used for the second time");
        return std::exchange(to_, nullptr);
    }
    std::shared_ptr<detail::Deferred> to_;
};

} // namespace plexus
