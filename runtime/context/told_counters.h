// SPDX-License-Identifier: BSD-3-Clause
// The counters of a context over the network: it publishes a pointer under its rank, and answers whoever has
// joined its directory with the words that processes of its host read from its memory.
#pragma once

#include <memory>

namespace plexus::counters {
class Publisher;
}

namespace plexus::detail {

class Core;

/// After the directory has been joined. Whatever goes wrong is logged: the context works without.
void tell_counters(Core& core, const std::shared_ptr<counters::Publisher>& publisher);

} // namespace plexus::detail
