// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: keys as files and as hexadecimal digits. Files that would be stretched are left
// out: each takes the time of ten thousand others.
#include "bootstrap/key.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace plexus;
using namespace plexus::bootstrap;

constexpr std::size_t kShortest = 16;
constexpr std::size_t kStrong = 32;

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

/// A file in memory that only its owner may read, with these bytes.
std::string file_with(const std::uint8_t* data, std::size_t size) {
    static const int file = [] {
        const int fd = ::memfd_create("key", MFD_CLOEXEC);
        require(fd >= 0 && ::fchmod(fd, 0600) == 0);
        return fd;
    }();
    require(::ftruncate(file, 0) == 0 && ::pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
    return "/proc/self/fd/" + std::to_string(file);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto key = key_from_hex(text)) require(key_from_hex(to_hex(key->bytes)).value() == *key);
    if (size >= kShortest && size < kStrong) return 0;
    const auto key = key_from_file(file_with(data, size));
    require(static_cast<bool>(key) == (size >= kStrong));
    return 0;
}
