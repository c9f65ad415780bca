// SPDX-License-Identifier: BSD-3-Clause
// A running job: passes on its output, its input and signals, and decides when the job ends and with
// which code. The subreaper starts and kills the processes. Knows nothing of directories. Blocks one
// thread until the job is over.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/job_input.h"
#include "bootstrap/job_output.h"
#include "bootstrap/signal_relay.h"
#include "bootstrap/subreaper.h"
#include "plexus/launch.h"

#include <optional>
#include <poll.h>
#include <string>
#include <vector>

namespace plexus::bootstrap {

/// The launcher's ends of one process's pipes; empty where the process has no pipe.
struct ProcessPipes {
    UniqueFd out, err, in;
};

class Supervisor {
  public:
    /// `names` are the programs by rank. All references must outlive the object.
    Supervisor(const LaunchOptions& options, const std::vector<std::string>& names, UniqueFd subreaper,
               std::vector<ProcessPipes> pipes);

    /// Starts the job and returns its exit code when no process of it is left.
    Result<int> run(const std::string& directory_url);

  private:
    struct Stream {
        UniqueFd fd;
        Outlet* outlet;
        LineCutter cutter;
    };

    /// The last signal by which the user asked the job to end.
    struct EndRequest {
        int signal;
        Clock::time_point passed_on;
    };

    void turn();
    void wait(std::vector<pollfd>& wanted) const;
    void order(Order::Verb verb, int number, const std::string& url = {});
    void take_reports();
    void take_signals();
    enum class Got : std::uint8_t { bytes, nothing, end };
    static Got read(Stream& stream);
    void finish_output();
    void process_ended(std::uint32_t rank, int pid, int status);
    void end_job(int code);
    void say(const std::string& sentence);
    void drop_dead_streams();
    bool was_asked_to_end() const;

    const LaunchOptions& options_;
    const std::vector<std::string>& names_;
    UniqueFd subreaper_;
    SignalRelay signals_;
    Outlet stdout_{1}, stderr_{2};
    std::vector<Stream> streams_;
    JobInput input_;
    std::size_t running_ = 0;
    std::vector<int> pids_;
    std::optional<int> code_;        // of the first process that failed
    std::optional<Failure> failure_; // the job could not be started as planned
    std::optional<EndRequest> end_request_;
    std::optional<Clock::time_point> kill_at_;
};

} // namespace plexus::bootstrap
