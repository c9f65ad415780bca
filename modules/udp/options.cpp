// SPDX-License-Identifier: BSD-3-Clause
#include "udp/options.h"

namespace plexus::udp {

std::optional<Options> read_options(const plexus_host& host) {
    constexpr std::uint64_t kLeastMtu = 576; // what every IPv4 host takes
    module::Parameters parameters(host);
    Options out;
    stream_link::read_addresses(parameters, out.where);
    out.keep_alive = parameters.duration("keep_alive");
    out.silence = parameters.duration("silence");
    out.idle = parameters.duration("idle");
    out.mtu = parameters.size("mtu", 0, 65535);
    if (out.mtu != 0 && out.mtu < kLeastMtu) parameters.refuse("mtu", "0 or a size of at least 576");
    if (out.keep_alive < std::chrono::milliseconds(10))
        parameters.refuse("keep_alive", "a duration of at least 10 ms");
    if (out.silence < 2 * out.keep_alive) parameters.refuse("silence", "at least twice keep_alive");
    if (parameters.failed()) return std::nullopt;
    return out;
}

} // namespace plexus::udp
