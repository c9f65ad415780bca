// SPDX-License-Identifier: BSD-3-Clause
// Whole contexts over the method, loaded as a program would: payloads of every size around those at
// which something changes arrive whole, whether they shrink or not.
#include "plexus/plexus.h"
#include "sources.h"
#include "support/catch.h"

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

using namespace plexus::testing;

namespace {

using Payload = std::vector<std::uint8_t>;
constexpr std::size_t kFrom = 4096;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Mirror {};
constexpr plexus::Request<Payload(Mirror&, Payload)> echo_request{"zstd.echo"};
constexpr plexus::Request<std::uint64_t(Mirror&, Payload)> sum_request{"zstd.sum"};

std::uint64_t sum_of(const Payload& payload) {
    std::uint64_t sum = payload.size();
    for (const std::uint8_t byte : payload) sum = sum * 31 + byte;
    return sum;
}

plexus::Options options(const std::string& method) {
    plexus::Options made;
    made.set["module_path"] = std::string(std::getenv("TESTED_BUILD")) + "/modules";
    made.set["methods"] = method;
    made.set["limits.max_message"] = "128 MiB";
    return made;
}

struct Side {
    explicit Side(const std::string& method)
      : context(options(method))
      , bound(context.bind(mirror)) {
        context.on(echo_request, [](Mirror&, const Payload& payload) { return payload; });
        context.on(sum_request, [](Mirror&, const Payload& payload) { return sum_of(payload); });
    }
    Mirror mirror;
    plexus::Context context;
    plexus::Bound<Mirror> bound;
};

Payload payload_of(const Bytes& bytes) {
    Payload made(bytes.size());
    if (!bytes.empty()) std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
}

} // namespace

TEST_CASE("payloads of every size arrive, whether they shrink or not") {
    const std::string over = GENERATE("tcp", "shm");
    const std::string mode = GENERATE("always=true", "always=false");
    CAPTURE(over, mode);
    const std::string method = "zstd?over=" + over + "&level=1&from=4KiB&" + mode;
    Side near(method);
    Side far(method);
    const auto mirror = plexus::GlobalPointer<Mirror>::load(near.context, far.bound.pointer().save());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kFrom - 1, kFrom, kFrom + 1, kMiB}) {
        CAPTURE(size);
        for (const Bytes& bytes : {field(size), noise(size)}) {
            const Payload payload = payload_of(bytes);
            CHECK(mirror.call(echo_request, payload).get() == payload);
        }
    }
    for (const Bytes& bytes : {field(72 * kMiB), noise(72 * kMiB)}) {
        const Payload payload = payload_of(bytes);
        CHECK(mirror.call(sum_request, payload).get() == sum_of(payload));
    }
}
