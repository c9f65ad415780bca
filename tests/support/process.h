// SPDX-License-Identifier: BSD-3-Clause
// A child process that runs a function of the test: it dies with its parent, is reaped at
// the end of the scope, and every wait for it is bounded. Fork before threads are started.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <sys/types.h>
#include <vector>

#include "base/unique_fd.h"

namespace plexus::testing {

/// One end of a byte channel between parent and child; records keep their bounds.
class Channel {
  public:
    static constexpr std::size_t kLongestRecord = 64 * 1024;

    explicit Channel(UniqueFd fd)
      : fd_(std::move(fd)) {}

    /// False if the other end is gone. Throws std::runtime_error if the record is too long or cannot be sent.
    bool put(std::span<const std::byte> record);
    /// The next record, or nothing when the time is over or the other end is gone.
    std::optional<std::vector<std::byte>> take(std::chrono::milliseconds limit);

  private:
    UniqueFd fd_;
};

class Process {
  public:
    /// Forks. The child runs `body`; what it returns is the exit code. An exception is
    /// printed and ends the child with 99; so does, with 98, what it logged unexpectedly.
    /// Catch2 must not be used in `body`.
    explicit Process(const std::function<int(Channel&)>& body);
    /// Kills the child if it still runs.
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const noexcept { return pid_; }
    Channel& channel() noexcept { return *channel_; }
    /// Sends the signal. After SIGSTOP this returns when every thread of the child is stopped: until then the
    /// child may still answer.
    void kill(int signal) const;
    /// The exit code, 128 + the signal that ended it, or nothing when the time is over.
    std::optional<int> wait(std::chrono::milliseconds limit);
    /// The same for an assertion: -1 when the time is over, a number that a failure prints.
    int code(std::chrono::milliseconds limit) { return wait(limit).value_or(-1); }

  private:
    pid_t pid_ = -1;
    std::optional<int> exit_;
    std::optional<Channel> channel_;
};

} // namespace plexus::testing
