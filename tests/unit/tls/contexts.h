// SPDX-License-Identifier: BSD-3-Clause
// Contexts over the method, loaded as a program would, with requests that carry payloads.
#pragma once

#include "plexus/plexus.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace plexus::testing::tls_contexts {

using Payload = std::vector<std::uint8_t>;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Mirror {};
constexpr Request<Payload(Mirror&, Payload)> echo_request{"tls.echo"};
constexpr Request<std::uint64_t(Mirror&, Payload)> sum_request{"tls.sum"};
constexpr Request<void(Mirror&, Payload)> take_request{"tls.take"};

inline std::uint64_t sum_of(const Payload& payload) {
    std::uint64_t sum = payload.size();
    for (const std::uint8_t byte : payload) sum = sum * 31 + byte;
    return sum;
}

/// No two places alike within 251 bytes, or at the borders of records.
inline Payload payload_of(std::size_t size) {
    Payload made(size);
    for (std::size_t at = 0; at < size; ++at) made[at] = static_cast<std::uint8_t>(at % 251 + at / 16384);
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
      : Side(options(method)) {}
    explicit Side(const Options& made)
      : context(made)
      , bound(context.bind(mirror)) {
        context.on(echo_request, [](Mirror&, const Payload& payload) { return payload; });
        context.on(sum_request, [](Mirror&, const Payload& payload) { return sum_of(payload); });
        context.on(take_request, [](Mirror&, const Payload&) {});
    }
    Mirror mirror;
    Context context;
    Bound<Mirror> bound;
};

} // namespace plexus::testing::tls_contexts
