// SPDX-License-Identifier: BSD-3-Clause
// What stands between a received frame and an application's function: decoding of the
// arguments, the call, encoding of the result.
#pragma once

#include "plexus/archive.h"
#include "plexus/request.h"

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace plexus::detail {

/// A handler without its types. Immutable once registered; owned by the context.
class PLEXUS_API Handler {
  public:
    Handler(bool threaded, std::uint64_t type) noexcept
      : type_(type)
      , threaded_(threaded) {}
    virtual ~Handler();

    /// Decodes, runs, writes the result where `reply` is not null. False: the arguments do not
    /// hold what the signature says; nothing ran. Exceptions of the function pass through.
    virtual bool run(void* object, Reader& in, Writer* reply) = 0;
    bool threaded() const noexcept { return threaded_; }
    /// wire_type() of the object it runs on: a pointer to something else is refused.
    std::uint64_t type() const noexcept { return type_; }

  private:
    std::uint64_t type_;
    bool threaded_;
};

template <class Function, class R, class T, class... P>
class TypedHandler final : public Handler {
  public:
    TypedHandler(bool threaded, Function function)
      : Handler(threaded, wire_type<T>())
      , function_(std::move(function)) {}

    bool run(void* object, Reader& in, Writer* reply) override {
        // Braces: the arguments are read from left to right.
        std::tuple<std::remove_cvref_t<P>...> arguments{in.get<std::remove_cvref_t<P>>()...};
        if (!in.ok()) return false;
        return std::apply(
            [&](auto&... each) {
                if constexpr (std::same_as<R, void>) {
                    function_(*static_cast<T*>(object), static_cast<std::remove_cvref_t<P>&&>(each)...);
                } else {
                    const R result =
                        function_(*static_cast<T*>(object), static_cast<std::remove_cvref_t<P>&&>(each)...);
                    if (reply != nullptr) {
                        reply->put(result);
                        reply->own(); // `result` ends here
                    }
                }
                return true;
            },
            arguments);
    }

  private:
    Function function_;
};

template <class R, class T, class... P, class Function>
std::unique_ptr<Handler> make_handler(const Request<R(T&, P...)>&, bool threaded, Function&& function) {
    static_assert(std::is_invocable_r_v<R, Function&, T&, std::remove_cvref_t<P>...>,
                  "the handler can't be called with the request's parameters");
    return std::make_unique<TypedHandler<std::decay_t<Function>, R, T, P...>>(
        threaded, std::forward<Function>(function));
}

} // namespace plexus::detail
