// SPDX-License-Identifier: BSD-3-Clause
// Three figures that servers are asked for. Each forks what it needs, prints what it measured, and gives
// true if that is as it should be. The caller has no threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace plexus::soak {

/// A server is killed and started again at one address, so many times, under a client that sends to the
/// old one and the new one: nothing reaches the wrong one, and the client's memory and descriptors are flat.
bool restarts(std::uint64_t rounds, const std::string& method);
/// So many clients call one server and are killed: its memory and descriptors are flat after a grace.
bool clients(std::uint64_t count, const std::string& method);
/// 300 silent strangers, refilled without a pause: links are made and mended within connect_timeout.
bool strangers(std::chrono::seconds time);

} // namespace plexus::soak
