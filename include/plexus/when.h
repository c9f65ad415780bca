// SPDX-License-Identifier: BSD-3-Clause
// Several futures as one. What they gave is taken from them: they are empty afterwards.
#pragma once

#include "plexus/future.h"

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace plexus {

namespace detail {

template <class State>
void pass_failure(State& to, const Error& error) {
    to.fail(error.status(), error.what());
}

template <class R>
Held<R> take(Future<R>& done) {
    if constexpr (std::is_void_v<R>) {
        done.get();
        return {};
    } else {
        return done.get();
    }
}

/// Counts the futures that are not ready; keeps the first failure by place.
template <class Result>
struct Gathering {
    explicit Gathering(std::size_t count, std::shared_ptr<Core> core)
      : left(count)
      , state(std::make_shared<ValueCall<Result>>(std::move(core)))
      , errors(count) {}

    template <class Finish>
    void one_is_there(Finish finish) {
        // [gather] whoever counts last sees what all others have put down.
        if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        for (const std::optional<Error>& error : errors)
            if (error) return pass_failure(*state, *error);
        finish();
    }
    template <class R, class Place>
    void put(Future<R>& done, std::size_t at, Place&& place) {
        try {
            place(take(done));
        } catch (...) { errors[at] = current_error(); }
    }

    std::atomic<std::size_t> left;
    std::shared_ptr<ValueCall<Result>> state;
    std::vector<std::optional<Error>> errors;
};

} // namespace detail

/// Ready when all are, with their results in order; fails as the first of them, by place, that
/// failed. Of futures of void: a Future<void>. @thread any @error bad_argument one is empty (thrown)
template <class R>
auto when_all(std::vector<Future<R>> futures) {
    using All = std::conditional_t<std::is_void_v<R>, void, std::vector<detail::Held<R>>>;
    for (const Future<R>& each : futures)
        if (!each.valid()) throw Error(Status::bad_argument, "when_all: a future is empty");
    struct Whole : detail::Gathering<All> {
        using detail::Gathering<All>::Gathering;
        std::vector<std::optional<detail::Held<R>>> values;
        void finish() {
            if constexpr (!std::is_void_v<R>) {
                std::vector<R> all;
                all.reserve(values.size());
                for (auto& value : values) all.push_back(std::move(*value));
                this->state->value.emplace(std::move(all));
            }
            this->state->succeed();
        }
    };
    const auto whole =
        std::make_shared<Whole>(futures.size(), futures.empty() ? nullptr : futures.front().state()->keep());
    whole->values.resize(futures.size());
    Future<All> all(whole->state);
    if (futures.empty()) whole->finish();
    for (std::size_t i = 0; i < futures.size(); ++i)
        futures[i].then([whole, i](Future<R> done) {
            whole->put(done, i, [&](auto&& value) { whole->values[i].emplace(std::move(value)); });
            whole->one_is_there([&] { whole->finish(); });
        });
    return all;
}

/// The same of futures of different types: a tuple, with an empty struct in place of void.
template <class... R>
requires(sizeof...(R) > 0) Future<std::tuple<detail::Held<R>...>> when_all(Future<R>... futures) {
    using All = std::tuple<detail::Held<R>...>;
    if (!(futures.valid() && ...)) throw Error(Status::bad_argument, "when_all: a future is empty");
    struct Whole : detail::Gathering<All> {
        using detail::Gathering<All>::Gathering;
        std::tuple<std::optional<detail::Held<R>>...> values;
        void finish() {
            std::apply([&](auto&... each) { this->state->value.emplace(std::move(*each)...); }, values);
            this->state->succeed();
        }
    };
    std::shared_ptr<detail::Core> core;
    ((core = core == nullptr ? futures.state()->keep() : core), ...);
    const auto whole = std::make_shared<Whole>(sizeof...(R), std::move(core));
    Future<All> all(whole->state);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (std::move(futures).then([whole](Future<R> done) {
            whole->put(done, I, [&](auto&& value) { std::get<I>(whole->values).emplace(std::move(value)); });
            whole->one_is_there([&] { whole->finish(); });
        }),
         ...);
    }
    (std::index_sequence_for<R...>{});
    return all;
}

/// Which future was ready first, and what it gave.
template <class R>
struct First {
    std::size_t index = 0;
    R value;
};
template <>
struct First<void> {
    std::size_t index = 0;
};

/// Ready when one of them is, with its result, or failed as it has. The others go on, and what they
/// give is dropped.
/// @thread any @error bad_argument there is none, or one is empty (thrown)
template <class R>
Future<First<R>> when_any(std::vector<Future<R>> futures) {
    if (futures.empty()) throw Error(Status::bad_argument, "when_any: there is no future to wait for");
    for (const Future<R>& each : futures)
        if (!each.valid()) throw Error(Status::bad_argument, "when_any: a future is empty");
    struct Race {
        std::atomic<bool> over{false};
        std::shared_ptr<detail::ValueCall<First<R>>> state;
    };
    const auto race = std::make_shared<Race>();
    race->state = std::make_shared<detail::ValueCall<First<R>>>(futures.front().state()->keep());
    Future<First<R>> first(race->state);
    for (std::size_t i = 0; i < futures.size(); ++i)
        futures[i].then([race, i](Future<R> done) {
            if (race->over.exchange(true, std::memory_order_acq_rel)) return;
            try {
                if constexpr (std::is_void_v<R>) {
                    done.get();
                    race->state->value.emplace(First<R>{i});
                } else {
                    race->state->value.emplace(First<R>{i, done.get()});
                }
            } catch (...) { return detail::pass_failure(*race->state, detail::current_error()); }
            race->state->succeed();
        });
    return first;
}

} // namespace plexus
