// SPDX-License-Identifier: BSD-3-Clause
#include "counters/processes.h"

#include "base/log.h"
#include "counters/layout.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace plexus::counters {
namespace {

namespace fs = std::filesystem;

std::string folder_of(pid_t process) { return fmt::format("/proc/{}", process); }

pid_t number_in(const std::string& name) noexcept {
    pid_t number = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, number);
    return read.ec == std::errc() && read.ptr == end && number > 0 ? number : 0;
}

bool is_counters(const std::string& path) {
    char target[64];
    const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    return size > 0 && std::string_view(target, static_cast<std::size_t>(size)) ==
                           fmt::format("/memfd:{} (deleted)", kLabel);
}

} // namespace

Result<std::vector<pid_t>> own_processes() {
    std::vector<pid_t> processes;
    std::error_code error;
    fs::directory_iterator each("/proc", error);
    if (error) return fail(Status::runtime_lost, "/proc cannot be read: {}", error.message());
    for (; each != fs::directory_iterator(); each.increment(error)) { // processes come and go meanwhile
        const pid_t number = number_in(each->path().filename().string());
        struct stat info {};
        if (number != 0 && ::stat(each->path().c_str(), &info) == 0 && info.st_uid == ::geteuid())
            processes.push_back(number);
    }
    std::sort(processes.begin(), processes.end());
    return processes;
}

Result<std::vector<std::string>> paths_of(pid_t process) {
    struct stat info {};
    if (process <= 0 || ::stat(folder_of(process).c_str(), &info) != 0)
        return fail(Status::not_found, "there is no process {} on this host", process);
    std::error_code error;
    fs::directory_iterator each(folder_of(process) + "/fd", error);
    if (error == std::errc::permission_denied)
        return fail(Status::denied, "process {} {}", process,
                    info.st_uid != ::geteuid() ? "is another user's" : "may not be looked into by its user");
    if (error == std::errc::no_such_file_or_directory || error == std::errc::no_such_process)
        return fail(Status::not_found, "process {} has ended", process);
    if (error)
        return fail(Status::runtime_lost, "process {} cannot be looked into: {}", process, error.message());
    std::vector<std::string> paths;
    for (; each != fs::directory_iterator(); each.increment(error))
        if (is_counters(each->path())) paths.push_back(each->path());
    return paths;
}

bool has_number(pid_t process, std::int32_t inner) {
    std::ifstream status(folder_of(process) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("NSpid:")) return number_in(line.substr(line.find_last_of('\t') + 1)) == inner;
    return process == inner; // a system that does not say so
}

} // namespace plexus::counters
