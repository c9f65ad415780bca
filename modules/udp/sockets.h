// SPDX-License-Identifier: BSD-3-Clause
// The UDP sockets of one context: one for each address to listen on, all at one port, non-blocking, never
// fragmented. Knows nothing of sessions. Sending: any thread; the rest: one at a time.
#pragma once

#include "base/unique_fd.h"
#include "stream_link/addresses.h"
#include "udp/options.h"

#include <asio/ip/udp.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plexus::udp {

/// Where a peer is, and by which of our sockets it is reached.
struct Path {
    std::size_t socket = 0;
    asio::ip::udp::endpoint peer;
    bool operator==(const Path&) const = default;
};

class Sockets {
  public:
    /// Errno, or 0; `why` says at which address it failed, and what to do. Addresses that this host lacks are
    /// left out as long as there is another.
    int bind(const std::vector<stream_link::Interface>& where, const stream_link::Options& options,
             std::string& why);
    /// Gives the descriptor away; nothing is sent by that socket any more.
    int release(std::size_t socket) noexcept { return sockets_[socket].fd.release(); }

    std::uint16_t port() const noexcept { return port_; }
    std::vector<asio::ip::address> addresses() const;
    std::size_t count() const noexcept { return sockets_.size(); }
    int fd(std::size_t socket) const noexcept { return sockets_[socket].fd.get(); }

    /// By the socket of that family that is nearest to the address; nothing: there is none.
    std::optional<Path> path_to(const asio::ip::udp::endpoint& peer) const;
    /// Bytes of the largest packet that the system knows to reach the peer; 0: it does not say.
    static std::size_t mtu_to(const asio::ip::udp::endpoint& peer) noexcept;
    /// Datagrams that came to a socket whose receive buffer was full, as the kernel counts them: each
    /// socket's count has 32 bits.
    std::uint64_t lost() const noexcept;
    /// Errno, or 0.
    int send(const Path& path, std::span<const std::uint8_t> datagram) const noexcept;
    /// How many bytes came from whom; below 0: nothing waits. What is longer than `room` is cut.
    std::ptrdiff_t receive(std::size_t socket, std::span<std::uint8_t> room,
                           asio::ip::udp::endpoint& from) const noexcept;

  private:
    struct Socket {
        stream_link::Interface at;
        UniqueFd fd;
    };
    int bind_all(const std::vector<stream_link::Interface>& where, std::uint16_t port,
                 const stream_link::SocketOptions& options, std::string& failed);

    std::vector<Socket> sockets_;
    std::uint16_t port_ = 0;
};

} // namespace plexus::udp
