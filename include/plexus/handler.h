// SPDX-License-Identifier: BSD-3-Clause
// What stands between a received frame and an application's function: decoding of the
// arguments, the call, encoding of the result.
#pragma once

#include "plexus/archive.h"
#include "plexus/future.h"
#include "plexus/reply.h"
#include "plexus/request.h"

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace plexus::detail {

/// What a function gives, or void where it can't be called so.
template <class Function, class... A>
struct ResultOf {
    using Type = void;
};
template <class Function, class... A>
requires std::is_invocable_v<Function, A...>
struct ResultOf<Function, A...> {
    using Type = std::invoke_result_t<Function, A...>;
};

/// The request that a handler runs for; lives on the stack of who runs it.
class PLEXUS_API Incoming {
  public:
    /// Keeps what its answer needs beyond the handler's return. `keeps_object`: the object's binding
    /// ends only after that.
    std::shared_ptr<Deferred> defer(bool keeps_object) const;

    Channel* from = nullptr;
    const void* header = nullptr; ///< wire::RequestHeader
    void* slot = nullptr;         ///< the object's, in the table of objects
    const Incoming* before = nullptr;
};

enum class Ran : std::uint8_t {
    done,
    deferred,     ///< the answer comes later
    bad_arguments ///< they do not hold what the signature says; nothing ran
};

/// A handler without its types. Immutable once registered; owned by the context.
class PLEXUS_API Handler {
  public:
    Handler(bool threaded, std::uint64_t type) noexcept
      : type_(type)
      , threaded_(threaded) {}
    virtual ~Handler();

    /// Decodes, runs, writes the result where `reply` is not null. Exceptions of the function pass
    /// through.
    virtual Ran run(void* object, Reader& in, Writer* reply, const Incoming& request) = 0;
    bool threaded() const noexcept { return threaded_; }
    /// object_type() of the object it runs on: a pointer to something else is refused.
    std::uint64_t type() const noexcept { return type_; }

  private:
    std::uint64_t type_;
    bool threaded_;
};

template <class Function, class R, class T, class... P>
class TypedHandler final : public Handler {
  public:
    TypedHandler(bool threaded, Function function)
      : Handler(threaded, object_type<T>())
      , function_(std::move(function)) {}

    Ran run(void* object, Reader& in, Writer* reply, const Incoming& request) override {
        // Braces: the arguments are read from left to right.
        std::tuple<std::remove_cvref_t<P>...> arguments{in.get<std::remove_cvref_t<P>>()...};
        if (!in.ok() || in.left() > 0) return Ran::bad_arguments;
        T& self = *static_cast<T*>(object);
        return std::apply(
            [&](auto&... each) {
                if constexpr (!std::is_invocable_v<Function&, T&, std::remove_cvref_t<P>...>) {
                    return run_with_reply(request, self, static_cast<std::remove_cvref_t<P>&&>(each)...);
                } else if constexpr (std::same_as<Result, Future<R>>) {
                    return run_with_future(reply, request, self,
                                           static_cast<std::remove_cvref_t<P>&&>(each)...);
                } else if constexpr (std::same_as<R, void>) {
                    function_(self, static_cast<std::remove_cvref_t<P>&&>(each)...);
                } else {
                    const R result = function_(self, static_cast<std::remove_cvref_t<P>&&>(each)...);
                    put(result, reply);
                }
                return Ran::done;
            },
            arguments);
    }

  private:
    using Result = typename ResultOf<Function&, T&, std::remove_cvref_t<P>...>::Type;

    static void put(const Held<R>& result, Writer* reply) {
        if (reply == nullptr) return;
        reply->put(result);
        reply->own(); // `result` ends in the caller
    }

    template <class... A>
    Ran run_with_reply(const Incoming& request, T& self, A&&... arguments) {
        const std::shared_ptr<Deferred> answer = request.defer(false);
        try {
            function_(self, std::forward<A>(arguments)..., Reply<R>(answer));
        } catch (...) {
            answer->give_up(); // what was thrown says more than that the reply was dropped
            throw;
        }
        return Ran::deferred;
    }

    template <class... A>
    Ran run_with_future(Writer* reply, const Incoming& request, T& self, A&&... arguments) {
        Future<R> future = function_(self, std::forward<A>(arguments)...);
        if (!future.valid()) throw Error(Status::handler_threw, "the handler returned an empty future");
        if (future.ready()) {
            if constexpr (std::same_as<R, void>) {
                future.get();
            } else {
                put(future.get(), reply);
            }
            return Ran::done;
        }
        future.then([answer = request.defer(true)](Future<R> done) {
            Writer result(kReplyHeader);
            try {
                if constexpr (std::same_as<R, void>) {
                    done.get();
                    answer->answer(result);
                } else {
                    const R value = done.get();
                    result.put(value);
                    answer->answer(result);
                }
            } catch (...) {
                const Error error = current_error();
                answer->fail(error.status(), error.what());
            }
        });
        return Ran::deferred;
    }

    Function function_;
};

template <class R, class T, class... P, class Function>
std::unique_ptr<Handler> make_handler(const Request<R(T&, P...)>&, bool threaded, Function&& function) {
    constexpr bool plain = std::is_invocable_r_v<R, Function&, T&, std::remove_cvref_t<P>...>;
    constexpr bool later = std::is_invocable_r_v<Future<R>, Function&, T&, std::remove_cvref_t<P>...>;
    constexpr bool replies = std::is_invocable_v<Function&, T&, std::remove_cvref_t<P>..., Reply<R>>;
    static_assert(
        plain || later || replies,
        "the handler can't be called with the request's parameters, or returns something else: it "
        "returns the result, a plexus::Future of it, or takes a plexus::Reply as its last parameter");
    return std::make_unique<TypedHandler<std::decay_t<Function>, R, T, P...>>(
        threaded, std::forward<Function>(function));
}

} // namespace plexus::detail
