// SPDX-License-Identifier: BSD-3-Clause
#include "tcp/options.h"

#include "common/values.h"

namespace plexus::tcp {
namespace {

void read_ports(module::Parameters& parameters, Options& out) {
    const std::string text = parameters.text("port");
    const std::size_t dash = text.find('-');
    const auto first = module::parse_count(text.substr(0, dash));
    const auto last = dash == std::string::npos ? first : module::parse_count(text.substr(dash + 1));
    const bool range = dash != std::string::npos;
    if (!first || !last || *first > *last || *last > 65535 || (range && *first == 0)) {
        parameters.refuse("port", "a port from 0 to 65535 or a range such as 7000-7100");
        return;
    }
    out.first_port = static_cast<std::uint16_t>(*first);
    out.last_port = static_cast<std::uint16_t>(*last);
}

} // namespace

std::optional<Options> read_options(const plexus_host& host) {
    module::Parameters parameters(host);
    Options out;
    out.listen = parameters.list("listen");
    out.interfaces = parameters.list("interface");
    read_ports(parameters, out);
    out.connect_timeout = parameters.duration("connect_timeout");
    out.handshake_timeout = parameters.duration("handshake_timeout");
    out.linger = parameters.duration("linger");
    out.eager = parameters.size("eager", 1024, 1024 * 1024);
    out.queue = parameters.size("queue", 0, std::uint64_t{1} << 40);
    out.max_message = parameters.size("max_message", 0, std::uint64_t{1} << 55);
    out.socket.sndbuf = parameters.size("sndbuf", 0, kMostSocketBuffer);
    out.socket.rcvbuf = parameters.size("rcvbuf", 0, kMostSocketBuffer);
    out.socket.nodelay = parameters.boolean("nodelay");
    out.socket.dead_after = parameters.duration("dead_after");
    const auto dead_after = out.socket.dead_after;
    if (dead_after.count() != 0 && dead_after < std::chrono::seconds(1))
        parameters.refuse("dead_after", "0 or a duration of at least 1 s");
    if (parameters.failed()) return std::nullopt;
    return out;
}

} // namespace plexus::tcp
