// SPDX-License-Identifier: BSD-3-Clause
// A `plexus` command as a user runs it: its output caught, every wait bounded, and a mark
// in its environment by which all that it started can be found. Test's thread.
#pragma once

#include "base/unique_fd.h"
#include "support/eventually.h"

#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace plexus::testing {

using Words = std::vector<std::string>;

/// Where a program lies that is started in place of `plexus`.
struct OtherProgram {
    std::string path;
};

class Command {
  public:
    /// Starts `plexus` with these words, standard input from `input` (a text).
    explicit Command(const Words& words, const std::string& input = {});
    Command(const OtherProgram& other, const Words& words, const std::string& input = {});
    /// Kills the command and all that carries its mark.
    ~Command();
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    pid_t pid() const noexcept { return pid_; }
    void kill(int signal) const;
    /// The exit code or 128 + signal; nothing when it still runs after `limit`.
    std::optional<int> wait(std::chrono::milliseconds limit = 20s);
    /// Reads on until standard output contains `text` `times` times.
    bool says(const std::string& text, int times = 1, std::chrono::milliseconds limit = 20s);

    const std::string& out() const noexcept { return texts_[0]; }
    const std::string& err() const noexcept { return texts_[1]; }
    std::vector<std::string> lines() const; ///< of standard output
    /// Stops reading standard output and closes our end.
    void hang_up() { pipes_[0].reset(); }
    /// From now on says() and wait() leave standard output alone.
    void stall() { stalled_ = true; }
    void resume() { stalled_ = false; }

    /// Processes that carry the mark, the command itself included.
    std::set<pid_t> processes() const;
    /// Those of them that are the job's, without launcher and subreaper.
    std::set<pid_t> ranks() const;
    /// -1 if there is none.
    pid_t subreaper() const;
    /// True as soon as none of them is left.
    bool left_nothing(std::chrono::milliseconds limit = 5s) const;

  private:
    void read_some(std::chrono::milliseconds limit);

    const std::string mark_;
    pid_t pid_ = -1;
    std::optional<int> code_;
    UniqueFd pipes_[2];
    std::string texts_[2];
    bool stalled_ = false;
};

/// The words of `plexus run` for the helper: options, then what it should do.
Words run_helper(Words options, const Words& what);

int count_of(const std::string& text, const std::string& part);

} // namespace plexus::testing
