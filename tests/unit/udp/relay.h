// SPDX-License-Identifier: BSD-3-Clause
// Somebody on the way between two contexts: a socket of its own that passes datagrams on, and may drop, keep,
// change or repeat them. Its own thread; what it is told comes from the test's.
#pragma once

#include "base/unique_fd.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <netinet/in.h>
#include <thread>
#include <vector>

namespace plexus::testing::udp {

using Datagram = std::vector<std::uint8_t>;

class Relay {
  public:
    /// To the loopback port of somebody.
    explicit Relay(std::uint16_t to);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    /// What goes on instead of each datagram; `there`: away from the side that came first. Runs on the
    /// relay's thread.
    void set(std::function<std::vector<Datagram>(const Datagram&, bool there)> rule);
    /// Sends to the one that the relay leads to, or back.
    void inject(const Datagram& datagram, bool there = true);
    std::vector<Datagram> seen(bool there) const;

  private:
    void run();
    void forward(const Datagram& datagram, bool there);

    UniqueFd socket_;
    std::uint16_t port_ = 0;
    sockaddr_in target_{};
    mutable std::mutex mutex_;
    std::function<std::vector<Datagram>(const Datagram&, bool)> rule_;
    std::vector<Datagram> seen_[2];
    sockaddr_in first_{};
    std::atomic<bool> over_{false};
    std::thread thread_;
};

/// The port in a descriptor of udp, and the same descriptor with another.
std::uint16_t port_in(const std::vector<std::byte>& descriptor);
std::vector<std::byte> with_port(const std::vector<std::byte>& descriptor, std::uint16_t port);

} // namespace plexus::testing::udp
