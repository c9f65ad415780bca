// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: short texts of others that are taken apart: a peer's refusal, which names its declaration
// of a request; a process manager's list of who shares a host; the line by which rank 0 tells the others the
// way to the directory. The first byte of the input chooses the text.
#include "bootstrap/manager/job_line.h"
#include "bootstrap/manager/process_manager.h"
#include "bootstrap/manager/process_mapping.h"
#include "bootstrap/url.h"
#include "wire/signature.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace plexus;

void require(bool holds) {
    if (!holds) std::abort();
}

// What the peer says stays, and what is added is about it.
void check_refusal(std::string_view text) {
    const std::string_view own = "f64(i32,map<string,i8>)";
    const std::string said = wire::with_own_types(text, own);
    require(said.starts_with(text));
    require(said.size() == text.size() || said.find(own, text.size()) != std::string::npos);
    const std::string theirs = wire::declared_as("name", text, "7");
    require(wire::with_own_types(theirs, own).size() > theirs.size());
    require(wire::with_own_types(wire::declared_as("name", own, "7"), text).find(text) != std::string::npos);
}

// A host has some of the processes, and its processes agree how many.
void check_mapping(std::string_view text) {
    constexpr std::uint32_t kSize = 24;
    std::uint32_t zero = 0;
    for (std::uint32_t rank = 0; rank < kSize; ++rank) {
        const std::uint32_t here = bootstrap::local_size_of(text, rank, kSize);
        require(here <= kSize);
        zero += here == 0 ? 1 : 0;
    }
    require(zero == 0 || zero == kSize);
    require(bootstrap::local_size_of(text, kSize, kSize) == 0);
}

void check_line(std::string_view text) {
    std::string joined;
    for (const std::string& part : bootstrap::parts_of(text)) {
        require(part.find(',') == std::string::npos);
        joined += part + ",";
        const auto url = bootstrap::parse_url(part);
        if (url)
            require(bootstrap::to_string(*bootstrap::parse_url(bootstrap::to_string(*url))) ==
                    bootstrap::to_string(*url));
    }
    require(joined == text || joined == std::string(text) + ",");
    const std::string line = bootstrap::job_line("key", {std::string(text), "127.0.0.1"}, 7);
    require(line.starts_with("key") && line.size() <= bootstrap::kLongestLine);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 3) {
    case 0:
        check_refusal(text);
        break;
    case 1:
        check_mapping(text);
        break;
    default:
        check_line(text);
    }
    return 0;
}
