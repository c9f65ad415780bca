// SPDX-License-Identifier: BSD-3-Clause
// A value, or why there is none. What internal functions return; public calls turn a
// failure into plexus::Error at the border.
#pragma once

#include "plexus/error.h"

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace plexus {

/// Why something failed: rank and sentence.
struct [[nodiscard]] Failure {
    Status status;
    std::string why;
};

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value)
      : held_(std::in_place_index<0>, std::move(value)) {}
    Result(Failure failure)
      : held_(std::in_place_index<1>, std::move(failure)) {}

    explicit operator bool() const noexcept { return held_.index() == 0; }
    T& operator*() & { return std::get<0>(held_); }
    const T& operator*() const& { return std::get<0>(held_); }
    T&& operator*() && { return std::get<0>(std::move(held_)); }
    T* operator->() { return &std::get<0>(held_); }
    const T* operator->() const { return &std::get<0>(held_); }

    const Failure& failure() const { return std::get<1>(held_); }
    Status status() const noexcept { return *this ? Status::ok : failure().status; }

    /// The value, or throws what went wrong as plexus::Error.
    T value() && {
        if (!*this) throw Error(failure().status, failure().why);
        return std::get<0>(std::move(held_));
    }

  private:
    std::variant<T, Failure> held_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Failure failure)
      : failure_(std::move(failure)) {
        assert(failure_.status != Status::ok);
    }

    explicit operator bool() const noexcept { return failure_.status == Status::ok; }
    const Failure& failure() const { return failure_; }
    Status status() const noexcept { return failure_.status; }
    void value() const {
        if (!*this) throw Error(failure_.status, failure_.why);
    }

  private:
    Failure failure_{Status::ok, {}};
};

} // namespace plexus
