// SPDX-License-Identifier: BSD-3-Clause
#include "host/fetch.h"

#include <algorithm>
#include <cerrno>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

namespace plexus::eco::host {
namespace {

struct OwnCookie {
    Cookie cookie{};
    bool valid = ::getrandom(cookie.data(), cookie.size(), 0) == static_cast<ssize_t>(cookie.size());
};

} // namespace

Process this_process() {
    static const OwnCookie own;
    if (!own.valid) return {};
    return {static_cast<std::uint64_t>(::getpid()), reinterpret_cast<std::uintptr_t>(own.cookie.data()),
            own.cookie};
}

bool can_fetch(const Process& from) noexcept {
    Cookie seen{};
    return from.id != 0 &&
           fetch(from, from.cookie_address, reinterpret_cast<std::byte*>(seen.data()), seen.size()) &&
           seen == from.cookie;
}

bool fetch(const Process& from, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept {
    while (bytes > 0) {
        const iovec here{to, bytes};
        const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes};
        const ssize_t got = ::process_vm_readv(static_cast<pid_t>(from.id), &here, 1, &there, 1, 0);
        if (got <= 0) {
            if (got == 0) errno = EFAULT;
            return false;
        }
        to += got;
        address += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

} // namespace plexus::eco::host
