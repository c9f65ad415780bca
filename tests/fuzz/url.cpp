// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the URL of a job. What is understood has one form, which means the same place.
#include "bootstrap/url.h"

#include <cstdint>
#include <cstdlib>

namespace {

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

void check(std::string_view text) {
    using namespace plexus::bootstrap;
    const auto url = parse_url(text);
    if (!url) {
        require(url.status() == plexus::Status::bad_argument && !url.failure().why.empty());
        return;
    }
    require(!url->host.empty() && url->host.size() <= 255);
    const auto again = parse_url(to_string(*url));
    require(again && again->host == url->host && again->port == url->port);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check(text);
    check("plexus://" + std::string(text)); // what the fuzzer would have to guess first
    return 0;
}
