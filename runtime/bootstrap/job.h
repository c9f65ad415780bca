// SPDX-License-Identifier: BSD-3-Clause
// What a launcher told this process about its job, through the environment. Says nothing
// about how to get there: that is the directory's part. The key is taken out of the environment
// when it is read, and kept in memory for the other contexts of the process. Any thread, but not
// while another one changes the environment.
#pragma once

#include "base/result.h"
#include "bootstrap/key.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plexus::bootstrap {

/// The names by which launcher and process agree; every other PLEXUS_ variable belongs to
/// the configuration.
inline constexpr char kJobId[] = "PLEXUS_JOB_ID";
inline constexpr char kJobRank[] = "PLEXUS_JOB_RANK";
inline constexpr char kJobSize[] = "PLEXUS_JOB_SIZE";
inline constexpr char kJobLocalSize[] = "PLEXUS_JOB_LOCAL_SIZE";
inline constexpr char kJobUrl[] = "PLEXUS_JOB_URL";
inline constexpr char kJobKey[] = "PLEXUS_JOB_KEY";

struct Job {
    std::string id;               ///< empty: no launcher started this process
    std::uint32_t rank = 0;       ///< 0 ... size - 1
    std::uint32_t size = 1;       ///< processes in the job
    std::uint32_t local_size = 1; ///< those on this host
    std::string url;              ///< the job's directory
    std::optional<Key> key;

    /// A job of one without id where no launcher is, or where our caller has fewer rights than we.
    /// Leaves kJobKey empty in the environment.
    /// @error bad_config a variable is missing, or is not what a launcher writes
    static Result<Job> from_environment();
};

} // namespace plexus::bootstrap
