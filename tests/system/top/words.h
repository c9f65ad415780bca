// SPDX-License-Identifier: BSD-3-Clause
// What the tests of `plexus top` say to it, and how they read what it says. Test's thread.
#pragma once

#include "system/launcher/command.h"

#include <string>
#include <vector>

namespace plexus::testing {

/// A job of two, one of which sends to the other. It has begun to when this returns.
class SendingJob {
  public:
    /// `settings`: of both processes.
    explicit SendingJob(const Words& settings);

    Command& command() noexcept { return command_; }
    /// What the launcher calls it.
    const std::string& id() const noexcept { return id_; }

  private:
    Command command_;
    std::string id_;
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
