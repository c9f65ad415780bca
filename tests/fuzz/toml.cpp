// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: configuration files, whoever wrote them, and the grammars of their values. What
// is read names its line; what a grammar accepts it accepts again in the form in which we write it.
#include "config/settings.h"
#include "config/toml_file.h"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace plexus;
using namespace plexus::config;

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

void check_value_grammars(std::string_view text) {
    if (const auto size = parse_size(text)) {
        const auto again = parse_size(size_text(*size));
        require(again && *again == *size);
    }
    if (const auto duration = parse_duration(text)) {
        const auto again = parse_duration(duration_text(*duration));
        require(again && *again == *duration);
    }
    (void)parse_boolean(text);
    (void)parse_count(text);
    for (const std::string& piece : split_list(text)) require(!piece.empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_value_grammars(text);
    const auto lines = read_toml(text, "f.toml");
    if (!lines) {
        require(lines.status() == Status::bad_config && lines.failure().why.starts_with("f.toml:"));
        return 0;
    }
    for (const TomlLine& line : *lines) {
        require(line.origin.starts_with("f.toml:"));
        require(!line.is_table || line.key.ends_with('.'));
        if (!line.is_table) check_value_grammars(line.value);
    }
    return 0;
}
