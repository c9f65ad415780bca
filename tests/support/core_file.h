// SPDX-License-Identifier: BSD-3-Clause
// The core file of a child process, to look for what must not be in it.
#pragma once

#include "support/process.h"
#include "support/tmpdir.h"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace plexus::testing {

/// Whether the system writes core files into the folder where a process is, and gives them to no program.
inline bool are_core_files_here() {
    std::string pattern;
    std::getline(std::ifstream("/proc/sys/kernel/core_pattern") >> std::ws, pattern);
    return pattern.starts_with("core");
}

/// A child runs `body` in the folder and aborts when it returns. Its core file; nothing: the system writes
/// none into the process's folder. @error std::runtime_error (thrown) the child ended otherwise
inline std::optional<std::string> core_file_of(const TmpDir& folder, const std::function<void()>& body) {
    if (!are_core_files_here()) return std::nullopt; // elsewhere it would stay
    Process child([&](Channel&) {
        rlimit cores{};
        if (::getrlimit(RLIMIT_CORE, &cores) != 0 || ::chdir(folder.path().c_str()) != 0) return 1;
        cores.rlim_cur = cores.rlim_max;
        ::setrlimit(RLIMIT_CORE, &cores);
        body();
        std::signal(SIGABRT, SIG_DFL);
        std::abort();
    });
    if (const int code = child.code(std::chrono::minutes(1)); code != 128 + SIGABRT)
        throw std::runtime_error("the child ended with " + std::to_string(code));
    for (const auto& each : std::filesystem::directory_iterator(folder.path())) {
        if (!each.path().filename().string().starts_with("core")) continue;
        std::ifstream file(each.path(), std::ios::binary);
        std::string bytes(std::istreambuf_iterator<char>(file), {});
        if (!bytes.empty()) return bytes;
    }
    return std::nullopt;
}

inline bool holds(const std::string& core, std::span<const std::uint8_t> bytes) {
    return core.find(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())) !=
           core.npos;
}

} // namespace plexus::testing
