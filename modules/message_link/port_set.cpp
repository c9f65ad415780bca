// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/port_set.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <utility>

namespace plexus::message_link {

int PortSet::open(std::vector<std::unique_ptr<Port>> ports, int wake_fd) {
    ports_ = std::move(ports);
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int fd) {
        epoll_event event{EPOLLIN, {nullptr}};
        return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    };
    if (!epoll_ || !watch(wake_fd)) return errno;
    for (const auto& port : ports_)
        if (port->wait_fd() >= 0 && !watch(port->wait_fd())) return errno;
    return 0;
}

std::uint32_t PortSet::row_of(const Port& port) const noexcept {
    const auto found =
        std::find_if(ports_.begin(), ports_.end(), [&](const auto& each) { return each.get() == &port; });
    return static_cast<std::uint32_t>(found - ports_.begin());
}

bool PortSet::arm(std::uint64_t& sleep_ns, bool stalled) {
    return std::all_of(ports_.begin(), ports_.end(), [&](const auto& port) {
        return port->is_shut() ? port->is_known_closed : port->arm(sleep_ns, stalled);
    });
}

void PortSet::stop_watching(const Port& port) {
    if (port.wait_fd() >= 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, port.wait_fd(), nullptr);
}

} // namespace plexus::message_link
