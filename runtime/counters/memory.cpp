// SPDX-License-Identifier: BSD-3-Clause
#include "counters/memory.h"

#include "base/log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace plexus::counters {
namespace {

/// Whether this process is short of something, or the other's memory is not what it should be.
Status status_of_error(int error) noexcept {
    // EAGAIN is mmap(2)'s: a process whose mappings are locked may lock no more.
    const bool is_short = error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
    return is_short ? Status::runtime_lost : Status::not_found;
}

std::size_t bytes_in(const UniqueFd& fd) noexcept {
    struct stat info {};
    return ::fstat(fd.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

} // namespace

Result<Memory> Memory::create(std::size_t words) {
    UniqueFd fd;
    SealedMemory memory = SealedMemory::create(kLabel, words * sizeof(Word), fd);
    if (!memory) return fail(Status::runtime_lost, "no memory for counters: {}", std::strerror(errno));
    return Memory(std::move(fd), std::move(memory), words);
}

Result<Memory> Memory::open(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return fail(status_of_error(errno), "{} cannot be opened: {}", path, std::strerror(errno));
    // A reader writes its question into the header, and reads what follows by copy().
    SealedMemory header =
        SealedMemory::map(fd.get(), sizeof(Header), kMostBytes, SealedMemory::Access::write, sizeof(Header));
    const std::size_t bytes = header ? bytes_in(fd) : 0; // sealed, so that it does not change
    if (header && bytes % sizeof(Word) == 0)
        return Memory(std::move(fd), std::move(header), bytes / sizeof(Word));
    if (header || errno == EINVAL)
        return fail(Status::not_found, "{} is not what a context shows its counters in", path);
    return fail(status_of_error(errno), "{} cannot be mapped: {}", path, std::strerror(errno));
}

// Read, not looked at through the mapping: pages that were never written stay none.
Result<std::vector<std::uint64_t>> Memory::copy() const {
    std::vector<std::uint64_t> words(words_);
    auto* const bytes = reinterpret_cast<char*>(words.data());
    const std::size_t size = words.size() * sizeof(Word);
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
