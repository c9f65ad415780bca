// SPDX-License-Identifier: BSD-3-Clause
// Room for cases that need more descriptors than the 1024 that many systems give a process.
#pragma once

#include <sys/resource.h>

namespace plexus::testing {

/// Lets this process have `count` descriptors from now on. False: the system does not permit it.
inline bool allow_descriptors(rlim_t count) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    if (limit.rlim_cur >= count) return true;
    if (limit.rlim_max < count) return false;
    limit.rlim_cur = count;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

} // namespace plexus::testing
