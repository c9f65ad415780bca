// SPDX-License-Identifier: BSD-3-Clause
// Where this process runs, told by the kernel and never by a host's name: which boot of
// which machine, which namespaces of network and processes. Read once when asked; pure values after that.
#pragma once

#include <array>
#include <cstdint>

namespace plexus::module {

struct Surroundings {
    std::array<std::uint8_t, 16> boot{}; ///< random at each boot; all zero where the kernel doesn't say
    std::uint64_t network_namespace = 0; ///< its inode number; 0 where the kernel doesn't say
    std::uint64_t process_namespace = 0; ///< ditto

    bool same_boot(const Surroundings& other) const noexcept {
        return boot == other.boot && boot != std::array<std::uint8_t, 16>{};
    }
    /// Loopback addresses of one mean the same as those of the other.
    bool same_network(const Surroundings& other) const noexcept {
        return same_boot(other) && network_namespace == other.network_namespace;
    }
    /// A process has the same number for both.
    bool same_processes(const Surroundings& other) const noexcept {
        return same_boot(other) && process_namespace == other.process_namespace && process_namespace != 0;
    }
};

Surroundings surroundings();

} // namespace plexus::module
