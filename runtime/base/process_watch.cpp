// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_watch.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace plexus {
namespace {

// Newer than the headers of Debian 12.
constexpr int kPeerPidfd = 77;           // SO_PEERPIDFD
constexpr long kPidfdOpen = 434;         // pidfd_open(2)
constexpr int kFieldsBeforeStart = 20;   // of /proc/PID/stat, counted from the one after the name
constexpr std::size_t kStatBytes = 1024; // the name has at most 64, the numbers at most 50 * 20

} // namespace

std::uint64_t start_time_of(pid_t process) noexcept {
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/%ld/stat", static_cast<long>(process));
    const UniqueFd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
    std::array<char, kStatBytes + 1> text{};
    if (!file || ::read(file.get(), text.data(), kStatBytes) <= 0) return 0;
    // The name stands in parentheses and may contain anything, parentheses too.
    const char* at = std::strrchr(text.data(), ')');
    for (int field = 0; at != nullptr && field < kFieldsBeforeStart; ++field) at = std::strchr(at + 1, ' ');
    return at == nullptr ? 0 : std::strtoull(at + 1, nullptr, 10);
}

UniqueFd peer_process(int socket) noexcept {
    int process = -1;
    socklen_t size = sizeof process;
    if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &process, &size) != 0) return {};
    return UniqueFd(process);
}

UniqueFd process_numbered(pid_t process) noexcept {
    return UniqueFd(static_cast<int>(::syscall(kPidfdOpen, process, 0U)));
}

UniqueFd process_started_at(pid_t process, std::uint64_t start_time) noexcept {
    errno = ENODATA;
    if (process <= 0 || start_time == 0) return {};
    UniqueFd found = process_numbered(process);
    if (!found) return found;
    // In this order: if it has not ended now, the number was its own when the time was read.
    errno = ENODATA;
    const std::uint64_t found_time = start_time_of(process);
    const int unread = errno;
    const bool ended = has_ended(found.get());
    if (!ended && found_time == start_time) return found;
    found.reset();
    errno = ended || found_time != 0 ? ESRCH : unread;
    return found;
}

bool has_ended(int process) noexcept {
    pollfd look{process, POLLIN, 0};
    return ::poll(&look, 1, 0) > 0;
}

} // namespace plexus
