// SPDX-License-Identifier: BSD-3-Clause
#include "shm/cma.h"

#include <algorithm>
#include <cerrno>
#include <climits>

namespace plexus::shm {

bool can_read(pid_t pid, const CookieAt& there) noexcept {
    if (pid <= 0) { // a process of a namespace that we don't see into
        errno = ESRCH;
        return false;
    }
    Cookie seen{};
    const iovec local{seen.data(), seen.size()};
    const iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(there.address)), seen.size()};
    const ssize_t got = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got < 0) return false;
    errno = ESRCH;
    return got == static_cast<ssize_t>(seen.size()) && seen == there.cookie;
}

bool RemoteBytes::read(std::byte* to, std::size_t size) noexcept {
    while (size > 0) {
        const iovec local{to, size};
        const std::size_t count = std::min<std::size_t>(pieces_.size() - first_, IOV_MAX);
        const ssize_t got = ::process_vm_readv(pid_, &local, 1, pieces_.data() + first_, count, 0);
        if (got <= 0) {
            if (got == 0) errno = EFAULT;
            return false;
        }
        auto taken = static_cast<std::size_t>(got);
        to += taken;
        size -= taken;
        while (taken > 0) {
            iovec& piece = pieces_[first_];
            const std::size_t part = std::min(piece.iov_len, taken);
            piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
            piece.iov_len -= part;
            taken -= part;
            if (piece.iov_len == 0) ++first_;
        }
    }
    return true;
}

} // namespace plexus::shm
