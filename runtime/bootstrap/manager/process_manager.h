// SPDX-License-Identifier: BSD-3-Clause
// The process manager that started this process, other than `plexus run`: it says which process of the job
// this one is, and carries one line of text from rank 0 to all others. Nothing here knows what the line
// means. One thread.
#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace plexus::bootstrap {

/// Longest line that every process manager carries. Slurm's PMI-1 reads 1024 bytes at once, and takes a
/// request that has more for a broken one: the names around the line in `put` have to fit, too.
inline constexpr std::size_t kLongestRequest = 1024;
inline constexpr std::size_t kLongestLine = kLongestRequest - 129;

/// The place of a process in its job.
struct Place {
    std::string job;              ///< what the process manager calls the job
    std::uint32_t rank = 0;       ///< 0 ... size - 1
    std::uint32_t size = 1;       ///< processes in the job
    std::uint32_t local_size = 1; ///< those on this host
};

/// A connection to it, which ends with the object.
class ProcessManager {
  public:
    ProcessManager() = default;
    ProcessManager(const ProcessManager&) = delete;
    ProcessManager& operator=(const ProcessManager&) = delete;
    virtual ~ProcessManager() = default;

    virtual const Place& place() const noexcept = 0;

    /// Rank 0 gives `line` to all others; it has no blank and no line break, and kLongestLine bytes at most.
    /// It stays known when the connection has ended.
    /// @error timed_out with PMI-1: not all others asked for it before the deadline
    /// @error peer_lost the process manager does not answer
    virtual Result<void> tell(const std::string& line, Clock::time_point deadline) = 0;

    /// The line that rank 0 gives; waits until it has done so.
    /// @error timed_out rank 0 did not before the deadline @error peer_lost as above
    virtual Result<std::string> hear(Clock::time_point deadline) = 0;

    /// False where this object has to live as long as the process: an MPI library that is here may go on with
    /// the connection, or may never be used.
    [[nodiscard]] virtual bool may_end() const noexcept { return true; }
};

/// @error not_found  this build, or this host, has no PMIx
/// @error bad_config the environment names a server that does not answer, or is not whole
Result<std::unique_ptr<ProcessManager>> connect_pmix();
Result<std::unique_ptr<ProcessManager>> connect_pmi(Clock::time_point deadline);

/// The advice behind each sentence about variables that lead nowhere.
inline constexpr const char* kWithoutManager =
    "set launcher = \"none\" (PLEXUS_LAUNCHER=none) to start without a job";

} // namespace plexus::bootstrap
