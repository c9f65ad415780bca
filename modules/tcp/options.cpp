// SPDX-License-Identifier: BSD-3-Clause
#include "tcp/options.h"

namespace plexus::tcp {

std::optional<stream_link::Options> read_options(const plexus_host& host) {
    module::Parameters parameters(host);
    stream_link::Options out;
    stream_link::read_socket_options(parameters, out);
    out.eager = parameters.size("eager", 1024, 1024 * 1024);
    out.queue = parameters.size("queue", 0, std::uint64_t{1} << 40);
    if (parameters.failed()) return std::nullopt;
    return out;
}

} // namespace plexus::tcp
