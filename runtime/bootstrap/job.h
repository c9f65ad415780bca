// SPDX-License-Identifier: BSD-3-Clause
// What a launcher told this process about its job. `plexus run` does so through the environment; the key is
// taken out of there when it is read, and kept in memory for the other contexts of the process. Other
// launchers are asked. Says nothing about how to get to the job's directory. Any thread, but not while
// another one changes the environment.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "bootstrap/key.h"
#include "bootstrap/manager/detect.h"

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
    std::string url;              ///< the job's directory, where `plexus run` serves it
    std::optional<Key> key;       ///< as url
    DetectedLauncher launcher{};

    /// Started by a process manager, which has been asked.
    bool is_managed() const noexcept {
        return launcher.kind == Launcher::pmix || launcher.kind == Launcher::pmi;
    }

    /// `wanted` is the key `launcher`. Where a process manager started this process, asks it and sets no url
    /// and no key: see bootstrap/manager/managed_job.h.
    /// @error as from_environment() and place_under()
    static Result<Job> find(std::string_view wanted, Clock::time_point deadline);

    /// A job of one without id where no launcher is, or where our caller has fewer rights than we.
    /// Leaves kJobKey empty in the environment.
    /// @error bad_config a variable is missing, or is not what a launcher writes
    static Result<Job> from_environment();
};

} // namespace plexus::bootstrap
