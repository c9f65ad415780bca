// SPDX-License-Identifier: BSD-3-Clause
// What UCX has to say: while a Trace lives on a thread, the library's warnings and errors
// that this thread causes go to it instead of to the program's output. Other users of UCX in
// the process keep theirs.
#pragma once

#include <string>
#include <vector>

namespace plexus::ucx {

/// Sees that Traces work, from open to destroy of a module. @thread setup
class TraceUse {
  public:
    TraceUse();
    ~TraceUse();
    TraceUse(const TraceUse&) = delete;
    TraceUse& operator=(const TraceUse&) = delete;
};

class Trace {
  public:
    Trace() noexcept;
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    bool empty() const noexcept { return lines_.empty(); }
    const std::vector<std::string>& lines() const noexcept { return lines_; }
    /// Sentence after sentence.
    std::string text() const;
    void add(std::string line);

  private:
    Trace* outer_;
    std::vector<std::string> lines_;
};

} // namespace plexus::ucx
