// SPDX-License-Identifier: BSD-3-Clause
// The ucx method for its tests, with the parameters that each of them chooses.
#pragma once

#include "support/bare_host.h"

extern "C" const struct plexus_passport plexus_passport;

namespace plexus::testing {

inline const Method& ucx() {
    static const Method method = method_of(plexus_passport);
    return method;
}

/// What the log says if the method does not open so; "opened" if it does.
inline std::string open_error(std::map<std::string, std::string> settings, std::int32_t status) {
    try {
        BareHost host(ucx(), with(std::move(settings)));
    } catch (const OpenFailed& failed) { return failed.status == status ? failed.what() : "wrong status"; }
    return "opened";
}

} // namespace plexus::testing
