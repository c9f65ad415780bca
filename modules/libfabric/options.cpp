// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/options.h"

#include "common/values.h"

namespace plexus::libfabric {

std::optional<Options> read_options(const plexus_host& host) {
    module::Parameters parameters(host);
    Options out;
    out.providers = parameters.list("provider");
    out.domains = parameters.list("domain");
    out.links.connect_timeout = parameters.duration("connect_timeout");
    out.links.handshake_timeout = parameters.duration("handshake_timeout");
    out.links.dead_after = parameters.duration("dead_after");
    out.links.linger = parameters.duration("linger");
    out.eager = static_cast<std::size_t>(parameters.size("eager", 2048, 1024 * 1024)); // a hello must fit
    out.fetch = parameters.boolean("fetch");
    out.links.window = static_cast<std::uint16_t>(parameters.count("window", 2, 16'384)); // half of 16 bits
    out.buffers = static_cast<std::size_t>(parameters.count("buffers", 4, 16'384));
    if (out.links.dead_after.count() != 0 && out.links.dead_after < std::chrono::seconds(1))
        parameters.refuse("dead_after", "0 or a duration of at least 1 s");
    if (parameters.failed()) return std::nullopt;
    return out;
}

} // namespace plexus::libfabric
