// SPDX-License-Identifier: BSD-3-Clause
// Writes into the host's memory: they end with the link.
#include "common/host_writes.h"

#include "support/catch.h"

#include <atomic>
#include <thread>

namespace host_writes_test {

using plexus::module::HostWrites;

TEST_CASE("writes are stopped when the one under way is over, and none begins afterwards") {
    HostWrites writes;
    std::atomic<bool> writing{false}, gone{false}, stopped{false};
    bool stopped_early = false;
    std::thread host([&] {
        while (!writing) std::this_thread::yield();
        gone.store(true, std::memory_order_relaxed);
        writes.stop();
        stopped = true;
    });
    CHECK(writes.try_write([&] {
        writing = true;
        for (int i = 0; i < 1000 && !stopped; ++i) std::this_thread::yield();
        stopped_early = stopped;
    }));
    bool wrote = true;
    while (wrote) {
        wrote = false;
        (void)writes.try_write([&] { wrote = true; });
    }
    CHECK(gone.load(std::memory_order_relaxed)); // it was stored before
    host.join();
    CHECK_FALSE(stopped_early);
    CHECK_FALSE(writes.try_write([] {}));
}

} // namespace host_writes_test
