// SPDX-License-Identifier: BSD-3-Clause
// The map's file while a probe runs: the file is whole at any time, whatever ends the program.
#pragma once

#include "plexus/eco/map.h"

#include <chrono>
#include <string>

namespace plexus::tools::probe {

/// Now, as 2026-11-21T08:54:19Z.
std::string date_now();

/// Writes a temporary file beside `path` and renames it.
/// @error not_found the file cannot be written (thrown, with the system's reason)
void save(const eco::Map& map, const std::string& path);

/// Saves now and then: saving takes at most about a twentieth of the time.
class Saver {
  public:
    explicit Saver(std::string path);
    void now(const eco::Map& map);
    void maybe(const eco::Map& map);

  private:
    using Clock = std::chrono::steady_clock;
    std::string path_;
    Clock::time_point next_;
};

} // namespace plexus::tools::probe
