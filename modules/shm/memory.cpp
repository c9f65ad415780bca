// SPDX-License-Identifier: BSD-3-Clause
#include "shm/memory.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace plexus::shm {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr unsigned long kTmpfs = 0x01021994; // TMPFS_MAGIC

std::byte* map_pages(int fd, std::size_t bytes) noexcept {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

} // namespace

SharedMemory::~SharedMemory() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

SharedMemory SharedMemory::create(const char* label, std::size_t bytes, module::OwnedFd& fd) noexcept {
    SharedMemory memory;
    fd.reset(::memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0)
        return memory;
    memory.data_ = map_pages(fd.get(), bytes);
    memory.size_ = bytes;
    return memory;
}

SharedMemory SharedMemory::map(int fd, std::size_t least, std::size_t most) noexcept {
    SharedMemory memory;
    constexpr int kWanted = F_SEAL_SHRINK | F_SEAL_GROW;
    const int seals = ::fcntl(fd, F_GET_SEALS);
    struct stat info {};
    struct statfs system {};
    if (seals < 0 || ::fstat(fd, &info) != 0 || ::fstatfs(fd, &system) != 0) return memory;
    const auto size = static_cast<std::size_t>(info.st_size);
    // Huge pages that the system has run out of would kill the reader, too.
    const bool ordinary = static_cast<unsigned long>(system.f_type) == kTmpfs;
    if ((seals & kWanted) != kWanted || !ordinary || info.st_size < 0 || size < least || size > most) {
        errno = EINVAL;
        return memory;
    }
    memory.data_ = map_pages(fd, size);
    memory.size_ = size;
    return memory;
}

void SharedMemory::discard() noexcept { (void)::madvise(data_, size_, MADV_REMOVE); }

} // namespace plexus::shm
