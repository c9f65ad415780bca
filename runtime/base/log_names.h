// SPDX-License-Identifier: BSD-3-Clause
// The names of the contexts in this process, as the lines of its log show them. Any thread.
#pragma once

#include <string>

namespace plexus::log {

/// While it lives, each line on standard error begins with `name`, beside the names of others.
class Name {
  public:
    explicit Name(std::string name);
    ~Name();
    Name(const Name&) = delete;
    Name& operator=(const Name&) = delete;

  private:
    const std::string name_;
};

} // namespace plexus::log
