// SPDX-License-Identifier: BSD-3-Clause
// A test that logs a warning or an error which it did not announce fails. Knows nothing of
// who logs. Any thread may log; the guards belong to the test's thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plexus::testing {

/// Announces warnings and errors for its lifetime: a line that contains `part` is
/// expected (an empty part: any line, but no broken promise). Guards nest; the innermost
/// that fits takes a line.
class ExpectWarning {
  public:
    explicit ExpectWarning(std::string part);
    ~ExpectWarning();
    ExpectWarning(const ExpectWarning&) = delete;
    ExpectWarning& operator=(const ExpectWarning&) = delete;

    /// Lines taken so far. @thread any
    std::size_t count() const;
    /// Their texts. @thread any
    std::vector<std::string> lines() const;
};

/// `auto guard = expect_warning("port");`
inline ExpectWarning expect_warning(std::string part) { return ExpectWarning(std::move(part)); }

/// Watches one stretch of a test: how many unexpected warnings and errors it logged.
class LogGuard {
  public:
    LogGuard();
    std::size_t unexpected() const;

  private:
    std::size_t before_;
};

/// Takes over the log of this process. The tests' main calls it once.
void watch_log();
/// Unexpected warnings, errors and broken promises since the start.
std::size_t unexpected_lines();
/// Reports a broken promise that no assertion can state where it is seen (in a callback,
/// on another thread): the running test fails at its end. @thread any
void report_violation(const std::string& sentence);

} // namespace plexus::testing
