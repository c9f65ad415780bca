// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: maps of a network, as TOML and as a plain matrix. Whatever is refused names the file;
// what is read is the same map again when it is written and read.
#include "plexus/eco/map.h"
#include "plexus/error.h"

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace {

using namespace plexus;

void require(bool holds) {
    if (!holds) std::abort();
}

std::optional<eco::Map> read(std::string_view text) {
    try {
        return eco::read_map(text, "f.map");
    } catch (const Error& error) {
        require(error.status() == Status::bad_config);
        require(std::string_view(error.what()).starts_with("f.map"));
        return {};
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto map = read({reinterpret_cast<const char*>(data), size});
    if (!map) return 0;
    const auto again = read(eco::to_toml(*map));
    require(again && *again == *map);
    return 0;
}
