// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/options.h"

namespace plexus::stream_link {
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

void read_addresses(module::Parameters& parameters, Options& out) {
    out.listen = parameters.list("listen");
    out.interfaces = parameters.list("interface");
    read_ports(parameters, out);
    out.connect_timeout = parameters.duration("connect_timeout");
    out.socket.sndbuf = parameters.size("sndbuf", 0, kMostSocketBuffer);
    out.socket.rcvbuf = parameters.size("rcvbuf", 0, kMostSocketBuffer);
}

void read_socket_options(module::Parameters& parameters, Options& out) {
    read_addresses(parameters, out);
    out.handshake_timeout = parameters.duration("handshake_timeout");
    out.linger = parameters.duration("linger");
    out.max_message = parameters.size("max_message", 0, std::uint64_t{1} << 55);
    out.subnet = parameters.text("within") == "subnet";
    out.socket.nodelay = parameters.boolean("nodelay");
    out.socket.dead_after = parameters.duration("dead_after");
    const auto dead_after = out.socket.dead_after;
    if (dead_after.count() != 0 && dead_after < std::chrono::seconds(1))
        parameters.refuse("dead_after", "0 or a duration of at least 1 s");
}

} // namespace plexus::stream_link
