// SPDX-License-Identifier: BSD-3-Clause
// The process' small numbers for requests: one for each name and signature, given on first
// use and never taken back. What travels in every frame instead of the name.
#pragma once

#include "plexus/request.h"

#include <cstdint>
#include <string>

namespace plexus::request {

/// The number, 1 to 65,535. @thread any
/// @error too_large (thrown) the process uses more requests than there are numbers
std::uint16_t number_of(const detail::RequestInfo& request);

/// The name behind a number of ours; for messages. @thread any
std::string name_of(std::uint16_t number);
/// Its result and parameters: "f64(i32)". @thread any
std::string types_of(std::uint16_t number);

} // namespace plexus::request
