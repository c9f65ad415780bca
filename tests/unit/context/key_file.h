// SPDX-License-Identifier: BSD-3-Clause
// A job's key in a file. For contexts in several processes it is made before a fork, so that all have it.
#pragma once

#include "support/tmpdir.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace plexus::testing {

class KeyFile {
  public:
    KeyFile()
      : KeyFile(std::string(64, '7')) {}
    explicit KeyFile(std::string_view digits)
      : path_(folder_.file("key", digits).string()) {
        std::filesystem::permissions(path_, std::filesystem::perms::owner_read |
                                                std::filesystem::perms::owner_write);
    }
    const std::string& path() const noexcept { return path_; }

  private:
    TmpDir folder_;
    std::string path_;
};

} // namespace plexus::testing
