// SPDX-License-Identifier: BSD-3-Clause
// Calls with an Asio completion token: callbacks, asio::use_future, asio::use_awaitable,
// asio::deferred … Needs standalone Asio; nothing else in Plexus' headers does.
#pragma once

#include "plexus/pointer.h"

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <tuple>

namespace plexus {

/// Calls `request` on `far`; the token's handler gets (std::error_code[, result]) on its
/// associated executor. The arguments must stay valid until this returns. Asio's cancellation (of
/// every type) ends the call as Future::cancel() does: the handler gets asio::error::operation_aborted,
/// so that `async_call(…) || timer.async_wait(…)` returns at the timer. @thread any
///
///     double t = co_await plexus::async_call(far, probe, std::tuple(3, 4), asio::use_awaitable);
template <class T, class R, class... P, class... A, class Token>
auto async_call(const GlobalPointer<T>& far, const Request<R(T&, P...)>& request,
                const std::tuple<A...>& arguments, Token&& token) {
    using Signature =
        std::conditional_t<std::same_as<R, void>, void(std::error_code),
                           void(std::error_code, std::conditional_t<std::same_as<R, void>, int, R>)>;
    auto initiate = [](auto handler, Future<R> future) {
        auto executor = asio::get_associated_executor(handler);
        auto slot = asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected())
            slot.assign([state = future.state()](asio::cancellation_type) { state->cancel(); });
        auto finish = [work = asio::make_work_guard(executor), executor, slot,
                       handler = std::move(handler)](Future<R> done) mutable {
            auto run = [slot, handler = std::move(handler), done = std::move(done)]() mutable {
                if (slot.is_connected()) slot.clear(); // the handler may use it for its next operation
                std::error_code failure;
                const auto failed = [&](const std::system_error& error) {
                    failure = error.code();
                    if (failure == Status::cancelled) failure = asio::error::operation_aborted;
                };
                if constexpr (std::same_as<R, void>) {
                    try {
                        done.get();
                    } catch (const std::system_error& error) { failed(error); }
                    std::move(handler)(failure);
                } else {
                    std::optional<R> value;
                    try {
                        value.emplace(done.get());
                    } catch (const std::system_error& error) { failed(error); }
                    std::move(handler)(failure, value ? std::move(*value) : R{});
                }
            };
            asio::post(executor, std::move(run));
        };
        future.then(std::move(finish));
    };
    Future<R> future = std::apply([&](const auto&... each) { return far.call(request, each...); }, arguments);
    return asio::async_initiate<Token, Signature>(std::move(initiate), token, std::move(future));
}

} // namespace plexus
