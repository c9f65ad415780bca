// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/liveness_socket.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>

namespace plexus::ucx {
namespace {

constexpr int kBacklog = 4096; // peers that may be connected at once; the system may allow fewer

struct SocketName {
    sockaddr_un address{};
    socklen_t size = 0;
};

// Abstract: the first byte of the path is zero.
SocketName socket_name(const LivenessName& name) {
    constexpr std::string_view kPrefix = "plexus-ucx-";
    SocketName out;
    out.address.sun_family = AF_UNIX;
    std::memcpy(out.address.sun_path + 1, kPrefix.data(), kPrefix.size());
    std::memcpy(out.address.sun_path + 1 + kPrefix.size(), name.data(), name.size());
    out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kPrefix.size() + name.size());
    return out;
}

UniqueFd make_socket() { return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

} // namespace

int LivenessSocket::open(const plexus_host& host) {
    host.random(host.self, name_.data(), name_.size());
    const SocketName where = socket_name(name_);
    listening_ = make_socket();
    const auto* address = reinterpret_cast<const sockaddr*>(&where.address);
    if (listening_ && ::bind(listening_.get(), address, where.size) == 0 &&
        ::listen(listening_.get(), kBacklog) == 0)
        return 0;
    const int error = errno;
    listening_.reset();
    name_ = {};
    return error;
}

UniqueFd connect_liveness(const LivenessName& name) {
    const SocketName where = socket_name(name);
    UniqueFd out = make_socket();
    if (out && ::connect(out.get(), reinterpret_cast<const sockaddr*>(&where.address), where.size) != 0) {
        const int error = errno;
        out.reset();
        errno = error;
    }
    return out;
}

bool has_hung_up(int connection) noexcept {
    pollfd about{connection, 0, 0};
    return ::poll(&about, 1, 0) > 0 && (about.revents & (POLLHUP | POLLERR)) != 0;
}

} // namespace plexus::ucx
