// SPDX-License-Identifier: BSD-3-Clause
// An opened module: its table, its lane, its rows in the context's own table.
#pragma once

#include "base/result.h"
#include "config/settings.h"
#include "loader/modules.h"
#include "method/boundary.h"
#include "plexus/module/abi.h"
#include "plexus/table.h"
#include "transport/traffic.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plexus::transport {

class Datagrams;
class Demux;
class Endpoint;
class Failover;

/// What the callbacks of a module reach.
struct Host {
    Endpoint* endpoint = nullptr;
    Demux* demux = nullptr;
    Failover* failover = nullptr;
    const loader::Modules* modules = nullptr;
    const config::Settings* settings = nullptr;
};

/// The most bytes of one message, and up to which size a module never posts.
struct InterfaceLimits {
    std::uint64_t eager_bytes = 0;  ///< no send up to this size is ever posted
    std::uint64_t max_message = 0;  ///< 0: no limit of its own
    std::uint64_t remote_bytes = 0; ///< smallest transfer that it moves by itself; 0: none
};

struct Interface {
    Interface();
    ~Interface();
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;

    /// Opens a module for one context. @error what the module says, bad_module no descriptor. @thread one
    static Result<std::unique_ptr<Interface>> open(const loader::Module& module, const Host& calls);

    /// Gives the module up that was opened, before anybody uses it.
    void end() noexcept;

    std::string name;
    std::string origin;
    std::string help;
    std::vector<plexus_parameter> parameters;
    plexus_ops ops{};
    plexus_host host{};
    plexus_module* instance = nullptr;
    Host calls;
    std::size_t lane = 0;
    InterfaceLimits limits;
    /// How far its links may reach: what the file says of it, and of the methods that it works over as far as
    /// these carry what others can read.
    method::Boundary within;
    std::vector<Descriptor> rows; ///< by which others reach this context; none: it reaches others only
    MethodCounts counts;
    std::unique_ptr<Datagrams> datagrams; ///< null: messages are not lost
    struct Opening {
        bool under_way = false;
        std::string failure;                      ///< what the module said of it
        std::vector<const loader::Module*> inner; ///< the methods that it works over, the outer first
    } opening;

    /// The name of the row that a link of this context goes by.
    const std::string& row_of(plexus_link* link) const;
    bool fragile() const noexcept { return (ops.caps & PLEXUS_CAP_FRAGILE) != 0; }
    bool unreliable() const noexcept { return (ops.caps & PLEXUS_CAP_UNRELIABLE) != 0; }
    bool one_host() const noexcept { return (ops.caps & PLEXUS_CAP_LOCAL) != 0; }
    std::uint64_t query(plexus_link* link, plexus_query what) const;
    /// Directly or through others.
    bool works_over(std::string_view inner) const;
    /// Whether others can read what goes by `inner`, a method under this one: no method above it encrypts.
    /// With the name of none of these: no method encrypts at all.
    bool shows(std::string_view inner) const;
    /// It reaches no further from now on. @thread setup
    void limit(const method::Boundary& boundary);
};

} // namespace plexus::transport
