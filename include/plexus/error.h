// SPDX-License-Identifier: BSD-3-Clause
// How errors reach an application: a std::system_error with a category of our own.
#pragma once

#include "plexus/export.h"
#include "plexus/status.h"

#include <string>
#include <system_error>

namespace plexus {

/// The category of every std::error_code that Plexus makes; its name is "plexus". @thread any
PLEXUS_API const std::error_category& error_category() noexcept;

inline std::error_code make_error_code(Status status) noexcept {
    return {static_cast<int>(status), error_category()};
}

/// What public calls throw and futures carry. what() is a sentence that says what to do.
class PLEXUS_API Error : public std::system_error {
  public:
    Error(Status status, const std::string& what)
      : std::system_error(make_error_code(status), what)
      , text_(what) {}

    Status status() const noexcept { return static_cast<Status>(code().value()); }
    const char* what() const noexcept override { return text_.c_str(); }

  private:
    std::string text_;
};

} // namespace plexus

template <>
struct std::is_error_code_enum<plexus::Status> : std::true_type {};
