// SPDX-License-Identifier: BSD-3-Clause
// What this process holds: descriptors, threads, files in /dev/shm. Two readings that
// differ show what somebody left behind. The folder is everybody's: what another process that
// lives has there, and what goes while we look, is no business of ours.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <unistd.h>

namespace plexus::testing {

struct Footprint {
    std::size_t descriptors = 0;
    std::size_t threads = 0;
    std::set<std::string> shared_files;

    /// Files that are there now, were not there `before`, and are nobody's that lives.
    std::set<std::string> left_since(const Footprint& before) const {
        std::set<std::string> left;
        for (const std::string& name : shared_files)
            if (before.shared_files.count(name) == 0 && !is_anothers(name)) left.insert(name);
        return left;
    }

    /// The system may list a thread for a moment after it was joined: waits until there are no more than
    /// `most`, for a second at longest.
    static Footprint settled(std::size_t most) {
        Footprint here = now();
        for (int i = 0; i < 100 && here.threads > most; ++i) {
            ::usleep(10'000);
            here = now();
        }
        return here;
    }

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
    // UCX's files are of those who have loaded it. libfabric begins a file's name with the number of its
    // process.
    static bool is_anothers(const std::string& name) {
        if (name.starts_with("ucx_")) {
            void* const loaded = ::dlopen("libucs.so.0", RTLD_LAZY | RTLD_NOLOAD);
            if (loaded != nullptr) ::dlclose(loaded);
            return loaded == nullptr;
        }
        const pid_t owner = static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
        return owner > 0 && owner != ::getpid() && ::kill(owner, 0) == 0;
    }
    static std::size_t count(const char* folder) {
        const std::filesystem::directory_iterator entries(folder);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }
};

} // namespace plexus::testing
