// SPDX-License-Identifier: BSD-3-Clause
// Answers for a thread that must not make progress itself. Any thread.
#pragma once

#include "plexus/plexus.h"

#include <concepts>
#include <exception>
#include <future>
#include <utility>

namespace plexus::tools::probe {

/// The same answer for a thread that must not make progress itself.
template <class R>
std::future<R> without_polling(Future<R> answer) {
    std::promise<R> promise;
    std::future<R> out = promise.get_future();
    answer.then([promise = std::move(promise)](Future<R> done) mutable {
        try {
            if constexpr (std::same_as<R, void>) {
                done.get();
                promise.set_value();
            } else {
                promise.set_value(done.get());
            }
        } catch (const Error&) { promise.set_exception(std::current_exception()); }
    });
    return out;
}

} // namespace plexus::tools::probe
