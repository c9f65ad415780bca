// SPDX-License-Identifier: BSD-3-Clause
#include "common/surroundings.h"

#include "base/unique_fd.h"

#include <cctype>
#include <fcntl.h>
#include <sys/stat.h>

namespace plexus::module {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const int lower = std::tolower(static_cast<unsigned char>(c));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// "8d282f24-00ce-...", 32 digits with dashes between.
std::array<std::uint8_t, 16> boot_id() {
    std::array<std::uint8_t, 16> id{};
    const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text{};
    const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : -1;
    unsigned digits = 0;
    for (ssize_t i = 0; i < size && digits < 32; ++i) {
        const int digit = hex_digit(text[static_cast<std::size_t>(i)]);
        if (digit < 0) continue;
        std::uint8_t& byte = id[digits / 2];
        byte = static_cast<std::uint8_t>(byte << 4 | digit);
        ++digits;
    }
    return digits == 32 ? id : std::array<std::uint8_t, 16>{};
}

std::uint64_t inode_of(const char* path) {
    struct stat info {};
    return ::stat(path, &info) == 0 ? info.st_ino : 0;
}

} // namespace

Surroundings surroundings() {
    Surroundings here;
    here.boot = boot_id();
    here.network_namespace = inode_of("/proc/self/ns/net");
    here.process_namespace = inode_of("/proc/self/ns/pid");
    return here;
}

} // namespace plexus::module
