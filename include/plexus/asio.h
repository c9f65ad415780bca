// SPDX-License-Identifier: BSD-3-Clause
// Calls with an Asio completion token: callbacks, asio::use_future, asio::use_awaitable,
// asio::deferred … Needs standalone Asio; nothing else in Plexus' headers does.
#pragma once

#include "plexus/pointer.h"

#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <tuple>

namespace plexus {

/// Calls `request` on `far`; the token's handler gets (std::error_code[, result]) on its
/// associated executor. The arguments must stay valid until this returns. @thread any
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
        auto finish = [work = asio::make_work_guard(executor), executor,
                       handler = std::move(handler)](Future<R> done) mutable {
            auto run = [handler = std::move(handler), done = std::move(done)]() mutable {
                std::error_code failure;
                if constexpr (std::same_as<R, void>) {
                    try {
                        done.get();
                    } catch (const std::system_error& error) { failure = error.code(); }
                    std::move(handler)(failure);
                } else {
                    std::optional<R> value;
                    try {
                        value.emplace(done.get());
                    } catch (const std::system_error& error) { failure = error.code(); }
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
