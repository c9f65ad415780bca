// SPDX-License-Identifier: BSD-3-Clause
// Error codes of libfabric: which of them are worth a repetition, what they mean for the engine, and their
// text. Pure functions, except text_of_failure().
#pragma once

#include "message_link/port.h"

#include <rdma/fi_eq.h>
#include <string>

namespace plexus::libfabric {

/// An error that means "later": no room now. The call is worth repeating.
bool passes(long code) noexcept;
/// "Invalid argument", for an error code of libfabric's of either sign.
std::string text_of_error(long code);
/// Of a call that gave an operation to the provider. `error`: zero, or a code of libfabric's; then `why` is
/// its text if it does not pass.
message_link::Outcome outcome_of(int error, std::string& why);
/// Of an operation that failed: the error's text and the provider's own words. `failure` was read from this
/// queue last. Under the lock of the queue's endpoint.
std::string text_of_failure(fid_cq* queue, const fi_cq_err_entry& failure);

} // namespace plexus::libfabric
