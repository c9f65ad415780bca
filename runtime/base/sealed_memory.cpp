// SPDX-License-Identifier: BSD-3-Clause
#include "base/sealed_memory.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace plexus {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr unsigned long kTmpfs = 0x01021994; // TMPFS_MAGIC

std::byte* map_pages(int fd, std::size_t bytes, int protection) noexcept {
    void* const at = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

} // namespace

SealedMemory::~SealedMemory() {
    if (data_ != nullptr) ::munmap(data_, size_);
}

SealedMemory SealedMemory::create(const char* label, std::size_t bytes, UniqueFd& fd) noexcept {
    SealedMemory memory;
    fd.reset(::memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0 ||
        ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(fd.get(), F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0)
        return memory;
    memory.data_ = map_pages(fd.get(), bytes, PROT_READ | PROT_WRITE);
    memory.size_ = bytes;
    return memory;
}

SealedMemory SealedMemory::map(int fd, std::size_t least, std::size_t most, Access access,
                               std::size_t prefix) noexcept {
    SealedMemory memory;
    const int seals = ::fcntl(fd, F_GET_SEALS);
    struct stat info {};
    struct statfs system {};
    if (seals < 0 || ::fstat(fd, &info) != 0 || ::fstatfs(fd, &system) != 0) return memory;
    const auto size = static_cast<std::size_t>(info.st_size);
    const bool ordinary = static_cast<unsigned long>(system.f_type) == kTmpfs;
    if ((seals & kSizeSeals) != kSizeSeals || !ordinary || info.st_size < 0 || size < least || size > most) {
        errno = EINVAL;
        return memory;
    }
    memory.size_ = std::min(size, prefix);
    memory.data_ = map_pages(fd, memory.size_, access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ);
    if (memory.data_ == nullptr && (errno == EACCES || errno == EPERM))
        errno = EINVAL; // not to be written to
    return memory;
}

void SealedMemory::discard() noexcept { (void)::madvise(data_, size_, MADV_REMOVE); }

} // namespace plexus
