// SPDX-License-Identifier: BSD-3-Clause
// Writes a file that is whole at any time. A header alone: tools and ECO do not see the library's internal
// symbols.
#pragma once

#include "plexus/error.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace plexus {
namespace detail {

/// False: it cannot, and errno says why.
inline bool write_whole(const std::string& path, std::string_view text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                         std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
    const int error = errno;
    const bool closed = std::fclose(file) == 0;
    if (!written) errno = error;
    return written && closed;
}

} // namespace detail

/// Writes `text` beside `file` and renames it into its place, so that a reader sees the old or the new text
/// whole. A symbolic link stays one. @thread any
/// @error bad_config it exists and is no regular file (thrown)
/// @error not_found it cannot be written (thrown, with the system's text); an old file stays as it was
inline void replace_file(const std::string& file, std::string_view text) {
    std::error_code none;
    const auto there = std::filesystem::status(file, none);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
        throw Error(Status::bad_config, file + " cannot be written: it is no regular file");
    const bool linked = std::filesystem::is_symlink(std::filesystem::symlink_status(file, none));
    const std::string path =
        linked && std::filesystem::exists(there) ? std::filesystem::canonical(file, none).string() : file;
    const std::string beside = path + "." + std::to_string(::getpid()) + ".new";
    if (detail::write_whole(beside, text) && std::rename(beside.c_str(), path.c_str()) == 0) return;
    const int error = errno;
    std::remove(beside.c_str());
    throw Error(Status::not_found, path + " cannot be written: " + std::generic_category().message(error));
}

} // namespace plexus
