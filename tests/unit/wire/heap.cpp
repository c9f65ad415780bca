// SPDX-License-Identifier: BSD-3-Clause
#include "heap.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLEXUS_TEST_KEEPS_NEW
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLEXUS_TEST_KEEPS_NEW
#endif
#endif

namespace plexus::testing {

std::size_t& largest_allocation() noexcept {
    static thread_local std::size_t most = 0;
    return most;
}

} // namespace plexus::testing

#ifndef PLEXUS_TEST_KEEPS_NEW
void* operator new(std::size_t size) {
    std::size_t& most = plexus::testing::largest_allocation();
    most = std::max(most, size);
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
