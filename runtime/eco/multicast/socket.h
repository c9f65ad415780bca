// SPDX-License-Identifier: BSD-3-Clause
// The socket of a group for its multicast datagrams: one multicast address and port, one interface, never
// beyond one router (TTL 1). A member hears its own datagrams, too; after keep_out() only its own
// probes. IPv4. No method blocks. @thread one
#pragma once

#include "base/unique_fd.h"
#include "multicast/packet.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco::multicast {

/// An IPv4 address in a network of the host's. Numbers in the host's byte order.
struct Interface {
    std::uint32_t address = 0;
    std::uint32_t mask = 0;
    std::uint32_t mtu = 0; ///< bytes of a packet

    std::uint32_t network() const noexcept { return address & mask; }
    bool is_loopback() const noexcept { return address >> 24 == 127; }
    bool operator==(const Interface&) const = default;
};

inline constexpr std::uint32_t kLoopback = 0x7f000001;

/// The interface of this address or, for address 0, the first that is up, not loopback, and does multicast.
/// Nothing: there is none.
std::optional<Interface> find_interface(std::uint32_t address);
/// Nothing: the text is no dotted IPv4 address.
std::optional<std::uint32_t> parse_address(std::string_view text);
std::string to_string(std::uint32_t address);

/// Where a group's datagrams go.
struct Place {
    std::uint32_t address = 0;
    std::uint32_t port = 0;
};
/// Follows from the key, so all members reckon the same. In 239.255.0.0/16, the scope that ends at the site's
/// border (RFC 2365), and among the ports that no service has.
Place place_of(const Key& key);
std::string to_string(const Place& place);

/// What a datagram may carry on this interface, in bytes.
std::uint32_t payload_bytes(const Interface& at) noexcept;

class Socket {
  public:
    /// Nothing: the system refuses; `why` says what, and what the operator can do.
    static std::optional<Socket> open(const Place& place, const Interface& at, std::string& why);

    /// From now on the kernel drops what other groups send to this place, and what member `own` of this group
    /// sends, except probes: the receive buffer is left to the other members. False: the system permits no
    /// filter, and all come as before.
    bool keep_out(std::uint64_t group, std::uint32_t own) noexcept;

    /// Datagrams of this size that the receive buffer has room for; at least 1.
    std::uint32_t room_for(std::size_t datagram_bytes) const noexcept;
    /// False: there is no room now; the datagram is lost if it is not sent again.
    bool send(Bytes datagram) const noexcept;
    /// The next datagram in `room`, which may have no byte; nothing: there is none. One that does not fit is
    /// cut, so its tag is wrong.
    std::optional<Bytes> receive(std::vector<std::byte>& room) const noexcept;
    /// Sleeps until a datagram comes, at most so long.
    void sleep(std::chrono::milliseconds limit) const noexcept;

  private:
    Socket(UniqueFd fd, const Place& place) noexcept
      : fd_(std::move(fd))
      , place_(place) {}

    UniqueFd fd_;
    Place place_;
};

} // namespace plexus::eco::multicast
