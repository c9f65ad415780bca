// SPDX-License-Identifier: BSD-3-Clause
#include "host/fetch.h"

#include "base/process_memory.h"

#include <sys/random.h>
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
    return from.id != 0 && can_read(static_cast<pid_t>(from.id), {from.cookie_address, from.cookie});
}

bool fetch(const Process& from, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept {
    return read_memory_of(static_cast<pid_t>(from.id), address, to, bytes);
}

} // namespace plexus::eco::host
