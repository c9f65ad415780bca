// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_memory.h"

#include <algorithm>
#include <cerrno>
#include <climits>

namespace plexus {
namespace {

iovec piece_at(std::uint64_t address, std::size_t bytes) noexcept {
    return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes};
}

/// Bytes that were read; 0: errno says why.
std::size_t read_some(pid_t process, std::byte* to, std::size_t size, const iovec* pieces,
                      std::size_t count) noexcept {
    const iovec local{to, size};
    const ssize_t got = ::process_vm_readv(process, &local, 1, pieces, count, 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) errno = EFAULT;
    return 0;
}

} // namespace

bool can_read(pid_t process, const CookieAt& there) noexcept {
    if (process <= 0) { // a process of a namespace that we don't see into
        errno = ESRCH;
        return false;
    }
    Cookie seen{};
    if (!read_memory_of(process, there.address, reinterpret_cast<std::byte*>(seen.data()), seen.size()))
        return false;
    errno = ESRCH;
    return seen == there.cookie;
}

bool read_memory_of(pid_t process, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept {
    while (bytes > 0) {
        const iovec there = piece_at(address, bytes);
        const std::size_t got = read_some(process, to, bytes, &there, 1);
        if (got == 0) return false;
        to += got;
        address += got;
        bytes -= got;
    }
    return true;
}

bool RemoteBytes::read(std::byte* to, std::size_t size) noexcept {
    while (size > 0) {
        const std::size_t count = std::min<std::size_t>(pieces_.size() - first_, IOV_MAX);
        std::size_t taken = read_some(process_, to, size, pieces_.data() + first_, count);
        if (taken == 0) return false;
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

} // namespace plexus
