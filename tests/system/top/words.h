// SPDX-License-Identifier: BSD-3-Clause
// What the tests of `plexus top` say to it, and how they read what it says. Test's thread.
#pragma once

#include "system/launcher/command.h"

#include <string>
#include <vector>

namespace plexus::testing {

/// A job of two, which has begun to work when this returns.
class RunningJob {
  public:
    /// `program`: the variable that says where it is; `settings`: of both processes.
    RunningJob(const char* program, const Words& settings);

    Command& command() noexcept { return command_; }
    /// What the launcher calls it.
    const std::string& id() const noexcept { return id_; }

  private:
    Command command_;
    std::string id_;
};
/// One sends to the other.
struct SendingJob : RunningJob {
    explicit SendingJob(const Words& settings)
      : RunningJob("TESTED_TOP", settings) {}
};

/// What one look says; it has to be one that succeeds.
std::string look(Words words);
/// The same as JSON of all that is shown.
std::string look_json(const std::string& which);
/// The JSON of each context of it.
std::vector<std::string> contexts_in(const std::string& json);
/// The rows of a table of a context.
std::vector<std::string> rows_in(const std::string& context, const std::string& table);
/// Text without its quotes.
std::string text_of(const std::string& object, const std::string& key);

} // namespace plexus::testing
