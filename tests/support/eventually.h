// SPDX-License-Identifier: BSD-3-Clause
// Deadlines instead of sleeps: a test waits for what it expects, and fails when that has
// not come in time. Slow builds (sanitizers) get longer deadlines, in one place.
#pragma once

#include <chrono>
#include <thread>

namespace plexus::testing {

using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLEXUS_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLEXUS_TEST_SANITIZED 1
#endif
#endif
#if defined(PLEXUS_TEST_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
/// How much longer everything may take in this build.
inline constexpr int kPatience = kSanitized ? 4 : 1;

/// True as soon as `done()` is; false when `limit` has passed. Gives the processor away
/// between two looks.
template <class Done>
bool eventually(std::chrono::nanoseconds limit, Done&& done) {
    const auto deadline = std::chrono::steady_clock::now() + limit * kPatience;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) return done();
        std::this_thread::yield();
    }
    return true;
}

} // namespace plexus::testing
