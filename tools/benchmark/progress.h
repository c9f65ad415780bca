// SPDX-License-Identifier: BSD-3-Clause
// What a person sees while a measurement runs, and what ends one that is stuck. Writes to
// the terminal between rounds only.
#pragma once

#include <string>

namespace plexus::tools::bench {

/// One line on standard error, rewritten by show() and gone at the end; none where that is
/// no terminal. One at a time in a process.
class Progress {
  public:
    /// A process whose measurement does not move for `patience_seconds` ends; 0: never.
    explicit Progress(unsigned patience_seconds = kPatienceSeconds);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Also says that the measurement moves: it has this long until the next.
    void show(const std::string& what);
    void clear();

    static constexpr unsigned kPatienceSeconds = 60;

  private:
    unsigned patience_seconds_;
    bool shows_;
    bool shown_ = false;
};

} // namespace plexus::tools::bench
