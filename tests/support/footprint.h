// SPDX-License-Identifier: BSD-3-Clause
// What this process holds: descriptors, threads, files in /dev/shm. Two readings that
// differ show what somebody left behind.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

namespace plexus::testing {

struct Footprint {
    std::size_t descriptors = 0;
    std::size_t threads = 0;
    std::set<std::string> shared_files;

    bool operator==(const Footprint&) const = default;

    static Footprint now() {
        namespace fs = std::filesystem;
        Footprint here;
        here.descriptors = count("/proc/self/fd");
        here.threads = count("/proc/self/task");
        std::error_code none; // a system without /dev/shm has no files in it
        for (const auto& entry : fs::directory_iterator("/dev/shm", none))
            here.shared_files.insert(entry.path().filename());
        return here;
    }

  private:
    static std::size_t count(const char* folder) {
        const std::filesystem::directory_iterator entries(folder);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }
};

} // namespace plexus::testing
