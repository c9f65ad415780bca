// SPDX-License-Identifier: BSD-3-Clause
// A job's key for contexts in several processes: made before a fork, so that all have it.
#pragma once

#include "support/tmpdir.h"

#include <filesystem>
#include <string>

namespace plexus::testing {

class KeyFile {
  public:
    KeyFile()
      : path_(folder_.file("key", std::string(64, '7')).string()) {
        std::filesystem::permissions(path_, std::filesystem::perms::owner_read |
                                                std::filesystem::perms::owner_write);
    }
    const std::string& path() const noexcept { return path_; }

  private:
    TmpDir folder_;
    std::string path_;
};

} // namespace plexus::testing
