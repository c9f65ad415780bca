// SPDX-License-Identifier: BSD-3-Clause
#include "counters/memory.h"

#include "base/log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace plexus::counters {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr unsigned long kTmpfs = 0x01021994; // TMPFS_MAGIC

void* map_shared(int fd, std::size_t bytes) noexcept {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? nullptr : at;
}

/// Whether this process is short of something, or the other's memory is not what it should be.
Status status_of_error(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM ? Status::runtime_lost : Status::not_found;
}

} // namespace

Memory::~Memory() {
    if (at_ != nullptr) ::munmap(at_, mapped_);
}

Result<Memory> Memory::create(std::size_t words) {
    const std::size_t bytes = words * sizeof(Word);
    UniqueFd fd(::memfd_create(kLabel, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    void* at = nullptr;
    if (fd && ::fchmod(fd.get(), S_IRUSR | S_IWUSR) == 0 &&
        ::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0 &&
        ::fcntl(fd.get(), F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) == 0)
        at = map_shared(fd.get(), bytes);
    if (at == nullptr) return fail(Status::runtime_lost, "no memory for counters: {}", std::strerror(errno));
    return Memory(std::move(fd), at, bytes, words);
}

Result<Memory> Memory::open(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return fail(status_of_error(errno), "{} cannot be opened: {}", path, std::strerror(errno));
    struct stat info {};
    struct statfs system {};
    const int seals = ::fcntl(fd.get(), F_GET_SEALS);
    // Huge pages that the system has run out of would kill the reader.
    const bool good = seals >= 0 && (seals & kSizeSeals) == kSizeSeals && ::fstat(fd.get(), &info) == 0 &&
                      ::fstatfs(fd.get(), &system) == 0 &&
                      static_cast<unsigned long>(system.f_type) == kTmpfs;
    const auto bytes = static_cast<std::size_t>(info.st_size);
    if (!good || bytes < sizeof(Header) || bytes > kMostBytes || bytes % sizeof(Word) != 0)
        return fail(Status::not_found, "{} is not what a context shows its counters in", path);
    void* const at = map_shared(fd.get(), sizeof(Header));
    if (at == nullptr)
        return fail(status_of_error(errno), "{} cannot be mapped: {}", path, std::strerror(errno));
    return Memory(std::move(fd), at, sizeof(Header), bytes / sizeof(Word));
}

// Read, not mapped: pages that were never written stay none.
Result<std::vector<std::uint64_t>> Memory::copy() const {
    std::vector<std::uint64_t> words(words_);
    auto* const bytes = reinterpret_cast<char*>(words.data());
    const std::size_t size = words_ * sizeof(Word);
    for (std::size_t at = 0; at < size;) {
        const ssize_t got = ::pread(fd_.get(), bytes + at, size - at, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return fail(Status::peer_lost, "counters cannot be read: {}",
                        got < 0 ? std::strerror(errno) : "they end too soon");
        at += static_cast<std::size_t>(got);
    }
    return words;
}

bool Memory::is(dev_t device, ino_t number) const noexcept {
    struct stat info {};
    return ::fstat(fd_.get(), &info) == 0 && info.st_dev == device && info.st_ino == number;
}

} // namespace plexus::counters
