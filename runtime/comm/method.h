// SPDX-License-Identifier: BSD-3-Clause
// A module as one context has it: opened, with its lane and its own descriptor.
#pragma once

#include "loader/modules.h"
#include "plexus/module/abi.h"
#include "plexus/table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plexus::comm {

class Exchange;

struct Method {
    std::string name;
    std::string origin;
    plexus_ops ops{};
    plexus_host host{};
    plexus_module* instance = nullptr;
    Exchange* exchange = nullptr;
    const loader::Module* module = nullptr;
    std::size_t lane = 0;
    std::uint64_t eager_bytes = 0;  ///< no send up to this size is ever posted
    std::uint64_t max_message = 0;  ///< 0: no limit of its own
    std::uint64_t remote_bytes = 0; ///< smallest transfer that it moves by itself; 0: none
    std::vector<Descriptor> rows;   ///< by which others reach this context; at least one
    /// What the module said of its failure to open; set while `opening`.
    std::string open_failure;
    bool opening = false;

    /// The name of the row that a link of this context goes by.
    const std::string& row_of(plexus_link* link) const {
        std::uint32_t row = 0;
        const bool told = rows.size() > 1 && ops.row_of(link, &row) == PLEXUS_OK && row < rows.size();
        return rows[told ? row : 0].method;
    }
    bool fragile() const noexcept { return (ops.caps & PLEXUS_CAP_FRAGILE) != 0; }
    bool one_host() const noexcept { return (ops.caps & PLEXUS_CAP_LOCAL) != 0; }
    std::uint64_t query(plexus_link* link, plexus_query what) const {
        std::uint64_t value = 0;
        return ops.query(instance, link, what, &value) == PLEXUS_OK ? value : 0;
    }
};

} // namespace plexus::comm
