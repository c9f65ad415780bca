// SPDX-License-Identifier: BSD-3-Clause
// The bytes by which a context is reached over tcp: where it runs, its port, its addresses.
// Reading trusts nothing: the bytes come from the wire. Pure values.
#pragma once

#include "common/surroundings.h"
#include "plexus/module/abi.h"

#include <asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::stream_link {

struct Descriptor {
    static constexpr std::size_t kMostAddresses = 32;

    module::Surroundings where;
    std::uint16_t port = 0;
    std::vector<asio::ip::address> addresses; ///< at most kMostAddresses

    std::vector<std::uint8_t> encode() const;
    /// Nothing: these bytes are no descriptor.
    static std::optional<Descriptor> decode(plexus_view bytes);

    /// The addresses worth trying from `here`: loopback addresses only if both are on the same host.
    std::vector<asio::ip::address> reachable_from(const module::Surroundings& here) const;
    /// Why reachable_from() is empty.
    std::string why_not(const module::Surroundings& here) const;
};

} // namespace plexus::stream_link
