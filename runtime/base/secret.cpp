// SPDX-License-Identifier: BSD-3-Clause
#include "base/secret.h"

#include <cstring>
#include <new>
#include <sys/mman.h>

namespace plexus {
namespace {

std::uint8_t* new_page(std::size_t bytes) {
    void* const page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    (void)::madvise(page, bytes, MADV_DONTDUMP);
    return static_cast<std::uint8_t*>(page);
}

} // namespace

void wipe(void* memory, std::size_t bytes) noexcept { ::explicit_bzero(memory, bytes); }

SecretMemory::SecretMemory(std::size_t bytes)
  : data_(new_page(bytes))
  , bytes_(bytes) {}

SecretMemory::~SecretMemory() {
    wipe(data_, bytes_);
    ::munmap(data_, bytes_);
}

} // namespace plexus
