// SPDX-License-Identifier: BSD-3-Clause
// Catch2, whichever version the system has, and a skip that both know: a test that can't
// run here says why and is counted as skipped, never as passed. Catch2's assertions
// belong on the test's own thread: other threads report, the test asserts.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string_view>

namespace plexus::testing {

/// Counts the running test case as skipped and prints the reason. Test's thread.
void note_skipped(std::string_view reason);

} // namespace plexus::testing

/// Ends the running test case as skipped; `reason` is a sentence.
#define SKIP_TEST(reason)                                                                                    \
    do {                                                                                                     \
        ::plexus::testing::note_skipped(reason);                                                             \
        SUCCEED("skipped");                                                                                  \
        return;                                                                                              \
    } while (false)
