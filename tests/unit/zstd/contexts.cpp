// SPDX-License-Identifier: BSD-3-Clause
// Payloads of every size around those at which something changes arrive whole, whether they shrink or not.
#include "contexts.h"

#include "support/catch.h"

namespace contexts_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::zstd_contexts;

TEST_CASE("payloads of every size arrive, whether they shrink or not") {
    constexpr std::size_t kFrom = 4096;
    const std::string over = GENERATE("tcp", "shm");
    const std::string mode = GENERATE("always=true", "always=false");
    CAPTURE(over, mode);
    const std::string method = "zstd?over=" + over + "&level=1&from=4KiB&" + mode;
    Side near(method);
    Side far(method);
    const auto mirror = GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kFrom - 1, kFrom, kFrom + 1, kMiB}) {
        CAPTURE(size);
        for (const Bytes& bytes : {field(size), noise(size)}) {
            const Payload payload = payload_of(bytes);
            CHECK(mirror.call(echo_request, payload).get() == payload);
        }
    }
    const std::size_t large = (kSanitized ? 9 : 72) * kMiB;
    for (const Bytes& bytes : {field(large), noise(large)}) {
        const Payload payload = payload_of(bytes);
        CHECK(mirror.call(sum_request, payload).get() == sum_of(payload));
    }
}

TEST_CASE("the example's configuration file is taken, and used where shared memory is not") {
    Options made;
    made.file = std::getenv("TESTED_CONFIGURATION");
    made.set["module_path"] = std::string(std::getenv("TESTED_BUILD")) + "/modules";
    Context owner(made);
    made.set["methods"] = "zstd";
    Context user(made);
    Mirror mirror;
    owner.on(sum_request, [](Mirror&, const Payload& payload) { return sum_of(payload); });
    const Bound<Mirror> bound = owner.bind(mirror);
    const auto pointer = GlobalPointer<Mirror>::load(user, bound.pointer().save());
    const Payload payload = payload_of(field(kMiB));
    CHECK(pointer.call(sum_request, payload).get() == sum_of(payload));
    CHECK(pointer.explain().find("zstd: applies") != std::string::npos);
    for (const SettingReport& setting : owner.settings())
        if (setting.key == "method.zstd.over") CHECK(setting.origin.find(made.file) != std::string::npos);
}

TEST_CASE("methods that work over one another in a circle are refused") {
    Options made = options("zstd");
    made.set["method.zstd.over"] = "faults";
    made.set["method.faults.over"] = "zstd";
    std::string why;
    try {
        const Context context(made);
    } catch (const std::exception& failed) { why = failed.what(); }
    CHECK(why.find("in a circle: faults below faults") != std::string::npos);
}

} // namespace contexts_test
