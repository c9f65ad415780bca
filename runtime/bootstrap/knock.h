// SPDX-License-Identifier: BSD-3-Clause
// The first steps of a guest, before it has a thread: connect to a served directory and
// prove the key, under one deadline. Blocks the caller; knows no frames.
#pragma once

#include "base/clock.h"
#include "base/unique_fd.h"
#include "bootstrap/key.h"
#include "bootstrap/url.h"
#include "plexus/id.h"

namespace plexus::bootstrap {

/// A connected socket whose far side holds `key` and knows that we do; with the protocol
/// it speaks. No child process inherits it. Errors: those of join().
struct OpenDoor {
    UniqueFd socket;
    asio::ip::tcp protocol;
};
Result<OpenDoor> knock(const Url& url, const Key& key, const ContextId& who, Clock::time_point deadline);

} // namespace plexus::bootstrap
