// SPDX-License-Identifier: BSD-3-Clause
// The file of a history: read as a whole, and replaced as a whole.
#include "base/bounded_file.h"
#include "plexus/eco/history.h"
#include "topology/refuse.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace plexus::eco {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

bool write_whole(const std::string& path, std::string_view text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                         std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
    const int error = errno;
    const bool closed = std::fclose(file) == 0;
    if (!written) errno = error;
    return written && closed;
}

} // namespace

History load_history(const std::string& path) {
    return read_history(read_bounded_file(path, kLargestFile, "is larger than 64 MiB: that is no history"),
                        path);
}

void save_history(const History& history, const std::string& path) {
    const std::string beside = fmt::format("{}.{}.new", path, ::getpid());
    if (write_whole(beside, to_toml(history)) && std::rename(beside.c_str(), path.c_str()) == 0) return;
    const int error = errno;
    std::remove(beside.c_str());
    refuse(Status::not_found, "{} cannot be written: {}", path, std::strerror(error));
}

} // namespace plexus::eco
