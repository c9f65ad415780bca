// SPDX-License-Identifier: BSD-3-Clause
// Shows a person how far a measurement is, and ends a measurement that is stuck. Writes to the terminal
// between rounds only.
#pragma once

#include <string>

namespace plexus::tools::benchmark {

/// One line on standard error, rewritten by show() and removed at the end; no line if standard error is no
/// terminal. One object at a time in a process.
class Progress {
  public:
    /// A process that does not call show() for `patience_seconds` ends; 0: never.
    explicit Progress(unsigned patience_seconds = kPatienceSeconds);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Also restarts the time of `patience_seconds`.
    void show(const std::string& what);
    void clear();

    static constexpr unsigned kPatienceSeconds = 60;

  private:
    unsigned patience_seconds_;
    bool shows_;
    bool shown_ = false;
};

} // namespace plexus::tools::benchmark
