// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/save.h"

#include "plexus/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace plexus::tools::probe {
namespace {

constexpr std::chrono::seconds kLeastInterval{2};
constexpr int kShare = 20;

bool write_all(const std::string& path, const std::string& text) {
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

std::string date_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

void save(const eco::Map& map, const std::string& file) {
    std::error_code none;
    const auto there = std::filesystem::status(file, none);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
        throw Error(Status::bad_config,
                    fmt::format("{} cannot be written: a map is put in the place of a regular file", file));
    const bool linked = std::filesystem::is_symlink(std::filesystem::symlink_status(file, none));
    const std::string path =
        linked && std::filesystem::exists(there) ? std::filesystem::canonical(file, none).string() : file;
    const std::string beside = fmt::format("{}.{}.new", path, ::getpid());
    if (write_all(beside, to_toml(map)) && std::rename(beside.c_str(), path.c_str()) == 0) return;
    const int error = errno;
    std::remove(beside.c_str());
    throw Error(Status::not_found, fmt::format("{} cannot be written: {}", path, std::strerror(error)));
}

Saver::Saver(std::string path)
  : path_(std::move(path))
  , next_(Clock::now() + kLeastInterval) {}

void Saver::now(const eco::Map& map) {
    const auto start = Clock::now();
    save(map, path_);
    const auto end = Clock::now();
    next_ = end + std::max<Clock::duration>(kLeastInterval, kShare * (end - start));
}

void Saver::maybe(const eco::Map& map) {
    if (Clock::now() >= next_) now(map);
}

} // namespace plexus::tools::probe
