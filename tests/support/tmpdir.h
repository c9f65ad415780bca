// SPDX-License-Identifier: BSD-3-Clause
// A folder of the test's own, gone with all it holds at the end of the scope.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace plexus::testing {

class TmpDir {
  public:
    TmpDir() {
        std::string name = (std::filesystem::temp_directory_path() / "plexus-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("cannot make a temporary folder like " + name);
        path_ = name;
    }
    ~TmpDir() {
        std::error_code ignored; // a test must not fail for what it leaves to the system's cleaner
        std::filesystem::remove_all(path_, ignored);
    }
    TmpDir(const TmpDir&) = delete;
    TmpDir& operator=(const TmpDir&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

    /// Writes a small file and gives its path.
    std::filesystem::path file(std::string_view name, std::string_view text) const {
        const auto where = path_ / name;
        std::ofstream(where, std::ios::binary) << text;
        return where;
    }

  private:
    std::filesystem::path path_;
};

} // namespace plexus::testing
