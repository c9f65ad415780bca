// SPDX-License-Identifier: BSD-3-Clause
// How two declarations of one request differ, in words. Pure.
#pragma once

#include <string>
#include <string_view>

namespace plexus::wire {

/// What the owner of an object says of its declaration of a request.
std::string declared_as(std::string_view name, std::string_view types, std::string_view context);

/// Adds to such a refusal, and to no other, what the request is on this side, and the first difference:
/// "…; here it is f64(i32): argument 1 is i64 there and i32 here".
std::string with_own_types(std::string_view refusal, std::string_view own);

} // namespace plexus::wire
