// SPDX-License-Identifier: BSD-3-Clause
// Why a TLS session failed, in a sentence for the log. No text of a peer's is in it.
#pragma once

#include <string>

typedef struct ssl_st SSL;

namespace plexus::tls {

/// What the library's queue of errors of this thread says last, and empties it.
std::string last_error();

/// Why the last call about `ssl` on this thread failed; empties the queue of errors.
std::string reason_of(const SSL* ssl);

} // namespace plexus::tls
