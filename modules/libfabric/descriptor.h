// SPDX-License-Identifier: BSD-3-Clause
// The bytes by which a context is reached over one provider of libfabric: where it runs, how it
// is woken, and its address; and which of one's own addresses reaches it.
// Reading trusts nothing: the bytes come from the wire. Pure values.
#pragma once

#include "common/surroundings.h"
#include "message_link/wire.h"

#include <string>

namespace plexus::libfabric {

using message_link::Bytes;
using message_link::ByteView;

/// From where an address means anything.
enum class Reach : std::uint8_t { fabric, network, host }; ///< of one name; one loopback; one host

struct Address {
    static constexpr std::size_t kMostText = 64;
    static constexpr std::size_t kMostName = 256;

    std::string provider; ///< "verbs;ofi_rxm"
    std::string fabric;   ///< "192.0.2.0/24"
    std::uint32_t format = 0;
    std::uint32_t protocol = 0;
    Reach reach = Reach::fabric;
    Bytes name; ///< what fi_getname gives

    bool operator==(const Address&) const = default;
};

/// Where processes of the same host find a context's page, see page.h.
struct PageAddress {
    std::uint32_t process = 0;
    std::uint32_t page = 0;                ///< descriptors of that process
    std::uint32_t ring = 0;                ///< the wake-up pipe; ditto
    std::array<std::uint8_t, 16> cookie{}; ///< the page holds the same
};

struct Descriptor {
    module::Surroundings where;
    std::uint32_t user = 0;
    std::uint64_t shared_folder = 0; ///< the device of /dev/shm; 0: there is none
    PageAddress page_address;
    Address address;

    Bytes encode() const; ///< less than 1,024
    /// Nothing: these bytes are no descriptor.
    static std::optional<Descriptor> decode(ByteView bytes);
};

/// The one of `mine` that reaches `theirs` from `here`, whose own address does not count, or why none
/// does.
std::optional<std::size_t> choose(const Descriptor& here, std::span<const Address> mine,
                                  const Descriptor& theirs, std::string& why);

} // namespace plexus::libfabric
