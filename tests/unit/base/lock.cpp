// SPDX-License-Identifier: BSD-3-Clause
// A module's mutex: an attempt to take it does not wait.
#include "base/lock.h"

#include "support/catch.h"

#include <thread>

namespace module_mutex_test {

using plexus::Lock;
using plexus::Mutex;

namespace {

bool another_thread_can_take(Mutex& mutex) {
    bool taken = false;
    std::thread([&] {
        if (!mutex.try_lock()) return;
        taken = true;
        mutex.unlock();
    }).join();
    return taken;
}

} // namespace

TEST_CASE("an attempt takes a mutex that nobody holds, and fails at once where another thread does") {
    Mutex mutex;
    CHECK(another_thread_can_take(mutex));
    {
        const Lock hold(mutex);
        CHECK_FALSE(another_thread_can_take(mutex));
    }
    CHECK(another_thread_can_take(mutex));
}

} // namespace module_mutex_test
