// SPDX-License-Identifier: BSD-3-Clause
// The module under these tests, and options by which it works on every machine.
#pragma once

#include "support/bare_host.h"

extern "C" const plexus_passport plexus_passport;

namespace plexus::testing {

inline const Method& libfabric() {
    static const Method the = method_of(plexus_passport);
    return the;
}

/// Over tcp on loopback, but for what `settings` say.
inline BareOptions on_loopback(std::map<std::string, std::string> settings) {
    settings.insert({{"provider", "tcp"}, {"domain", "lo"}});
    return with(std::move(settings));
}

} // namespace plexus::testing
