// SPDX-License-Identifier: BSD-3-Clause
// Contexts over the method, loaded as a program would, with requests that carry payloads.
#pragma once

#include "plexus/plexus.h"
#include "sources.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace plexus::testing::zstd_contexts {

using Payload = std::vector<std::uint8_t>;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Mirror {};
constexpr Request<Payload(Mirror&, Payload)> echo_request{"zstd.echo"};
constexpr Request<std::uint64_t(Mirror&, Payload)> sum_request{"zstd.sum"};
constexpr Request<void(Mirror&, Payload)> take_request{"zstd.take"};

inline std::uint64_t sum_of(const Payload& payload) {
    std::uint64_t sum = payload.size();
    for (const std::uint8_t byte : payload) sum = sum * 31 + byte;
    return sum;
}

inline Payload payload_of(const Bytes& bytes) {
    Payload made(bytes.size());
    if (!bytes.empty()) std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
}

inline Options options(const std::string& method) {
    Options made;
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
        context.on(take_request, [](Mirror&, const Payload&) {});
    }
    Mirror mirror;
    Context context;
    Bound<Mirror> bound;
};

} // namespace plexus::testing::zstd_contexts
