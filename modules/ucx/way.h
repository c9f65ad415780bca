// SPDX-License-Identifier: BSD-3-Clause
// The way to one other worker: UCX's endpoint and the hold on its owner's lifeline. All links
// to that worker share it, since UCX pairs the endpoints of two workers by itself, in the
// order of their making. It stays until it fails or the module ends.
#pragma once

#include "common/owned_fd.h"
#include "ucx/descriptor.h"

#include <string>
#include <ucp/api/ucp.h>

namespace plexus::ucx {

class Module;

/// For tables of ways.
inline std::string key_of(const std::vector<std::uint8_t>& address) {
    return {address.begin(), address.end()};
}

struct Way {
    Way(Module& owner, std::vector<std::uint8_t> to)
      : module(owner)
      , address(std::move(to)) {}

    Module& module;
    const std::vector<std::uint8_t> address;

    // Under the module's lock.
    ucp_ep_h endpoint = nullptr; ///< null once it is being closed
    bool failed = false;
    ucs_status_t status = UCS_OK;

    // The progress thread's.
    module::OwnedFd lifeline;
    bool cut = false;        ///< its owner has gone; what it had sent is still taken
    bool counted = false;    ///< among the module's cut ones
    std::uint32_t quiet = 0; ///< turns without news since
    std::size_t links = 0;
};

} // namespace plexus::ucx
