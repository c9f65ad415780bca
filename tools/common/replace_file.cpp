// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/replace_file.h"

#include "plexus/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace plexus::tools {
namespace {

bool write_all(const std::string& path, std::string_view text) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                         std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
    const int error = errno;
    const bool closed = std::fclose(file) == 0;
    if (!written) errno = error;
    return written && closed;
}

} // namespace

void replace_file(const std::string& file, std::string_view text) {
    std::error_code none;
    const auto there = std::filesystem::status(file, none);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
        throw Error(Status::bad_config, fmt::format("{} cannot be written: it is no regular file", file));
    const bool linked = std::filesystem::is_symlink(std::filesystem::symlink_status(file, none));
    const std::string path =
        linked && std::filesystem::exists(there) ? std::filesystem::canonical(file, none).string() : file;
    const std::string beside = fmt::format("{}.{}.new", path, ::getpid());
    if (write_all(beside, text) && std::rename(beside.c_str(), path.c_str()) == 0) return;
    const int error = errno;
    std::remove(beside.c_str());
    throw Error(Status::not_found, fmt::format("{} cannot be written: {}", path, std::strerror(error)));
}

} // namespace plexus::tools
