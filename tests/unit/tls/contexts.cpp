// SPDX-License-Identifier: BSD-3-Clause
// Payloads of every size around those at which something changes arrive whole.
#include "contexts.h"

#include "authority.h"
#include "support/catch.h"

#include <thread>

namespace contexts_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::tls_contexts;

TEST_CASE("payloads of every size arrive, over methods that copy them and methods that place them") {
    const std::string over = GENERATE("", "tcp", "shm", "local"); // nothing: connections of its own
    CAPTURE(over);
    const std::string method = "tls?over=" + over + "&update_after=1MiB";
    Side near(method);
    Side far(method);
    const auto mirror = GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save());
    std::vector<std::size_t> sizes{0, 1, 100, 5000, kMiB, 3 * kMiB + 1};
    for (const std::size_t border : {std::size_t{8} << 10, std::size_t{16} << 10, std::size_t{32} << 10,
                                     std::size_t{128} << 10, std::size_t{256} << 10})
        for (std::size_t size = border - 200; size < border + 40; size += 24) sizes.push_back(size);
    for (const std::size_t size : sizes) {
        CAPTURE(size);
        const Payload payload = payload_of(size);
        REQUIRE(mirror.call(echo_request, payload).get() == payload);
    }
    const Payload large = payload_of((kSanitized ? 9 : 72) * kMiB);
    CHECK(mirror.call(sum_request, large).get() == sum_of(large));
}

TEST_CASE("many threads send small and large payloads both ways at once") {
    const std::string over = GENERATE("", "tcp", "shm");
    CAPTURE(over);
    const std::string method = "tls?over=" + over + "&update_after=256KiB";
    Side near(method);
    Side far(method);
    const auto there = GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save());
    const auto back = GlobalPointer<Mirror>::load(far.context, near.bound.pointer().save());
    std::atomic<int> wrong{0};
    const auto stream = [&wrong](const GlobalPointer<Mirror>& to, std::size_t least) {
        for (std::size_t i = 0; i < 60; ++i) {
            const Payload payload = payload_of(least + i * 7919);
            if (to.call(echo_request, payload).get() != payload) ++wrong;
        }
    };
    std::vector<std::thread> threads;
    for (const std::size_t least : {std::size_t{10}, std::size_t{200'000}}) {
        threads.emplace_back(stream, std::cref(there), least);
        threads.emplace_back(stream, std::cref(back), least);
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("contexts with certificates call each other, and say what they use") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    const auto side = [&](const std::string& name) {
        Options made = options("tls");
        made.file =
            std::getenv("TESTED_CONFIGURATION"); // of an example; the paths in it are not this machine's
        for (const auto& [key, value] : authority.settings(authority.sign(name)))
            made.set["method.tls." + key] = value;
        return made;
    };
    Side near(side("deep.ocean.example"));
    Side far(side("north.atmosphere.example"));
    const auto mirror = GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save());
    const Payload payload = payload_of(100'000);
    CHECK(mirror.call(echo_request, payload).get() == payload);
    CAPTURE(mirror.explain());
    CHECK(mirror.explain().find("tls: applies") != std::string::npos);
}

} // namespace contexts_test
