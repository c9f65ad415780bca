// SPDX-License-Identifier: BSD-3-Clause
// The bytes by which a context is reached over ucx: where it runs, which UCX it has, by which
// transports, and its worker's address. UCX takes such an address on trust, and a wrong one
// can end the process: so it is sealed with a proof by the job's key, and opened only by who
// holds the same. Reading trusts nothing. Pure values.
#pragma once

#include "common/surroundings.h"
#include "plexus/module/abi.h"
#include "ucx/liveness_socket.h"
#include "ucx/names.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plexus::ucx {

struct Version {
    std::uint8_t major = 0;
    std::uint8_t minor = 0;
};

struct Descriptor {
    static constexpr std::size_t kMostBytes = 1024;
    static constexpr std::size_t kMostTransports = 32;
    static constexpr std::size_t kSealBytes = 16;

    module::Surroundings where;
    Version library;
    LivenessName liveness{};             ///< all zero: it has none
    bool leaves_host = false;            ///< some network device is more than loopback
    bool endpoints_fail = true;          ///< see Library; both ends must agree
    std::vector<std::string> transports; ///< at most kMostTransports, each at most 15 characters
    std::vector<std::uint8_t> address;   ///< the worker's

    /// With its seal; empty if the result would be larger than a descriptor may be.
    std::vector<std::uint8_t> encode(const plexus_host& host) const;
    /// Nothing: these bytes are no descriptor. The seal is not looked at.
    static std::optional<Descriptor> decode(plexus_view bytes);
    /// Made by a holder of the job's key.
    static bool sealed(const plexus_host& host, plexus_view bytes);

    /// Why a message can't go from `here` to this context; empty: it can.
    std::string why_not(const Descriptor& here) const;
};

/// Notes what `resources` mean for who can be reached.
void describe_resources(Descriptor& descriptor, std::span<const Resource> resources);

} // namespace plexus::ucx
