// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/arguments.h"

#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/common/quantity.h"
#include "tools/common/usage.h"
#include "tools/schedule/graph_file.h"
#include "tools/schedule/map_graph.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace plexus::tools::schedule {
namespace {

constexpr double kMostSeconds = 1e6;

template <class Number>
std::optional<Number> parse(const std::string& text) {
    Number out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return out;
}

double seconds_of(const std::string& text, const char* option) {
    const auto out = parse<double>(text);
    if (!out || !(*out >= 0) || *out > kMostSeconds)
        usage_error("schedule", fmt::format("{} takes seconds, from 0 to {}, not {}", option,
                                            static_cast<std::uint64_t>(kMostSeconds), json::quote(text)));
    return *out;
}

/// The network of a map. What load_map() says of its file it says with the file's name.
eco::LinkGraph graph_of_map_file(const std::string& file) {
    try {
        return graph_of_map(eco::load_map(file));
    } catch (const Error& error) {
        throw Error(error.status() == Status::bad_config ? Status::bad_argument : error.status(),
                    error.what());
    }
}

} // namespace

eco::LinkGraph take_graph(std::vector<std::string>& words, const Options& options) {
    if (options.map.empty() && words.empty())
        usage_error("schedule", "say which network: a NAME or a FILE, or --map FILE");
    const std::string source = options.map.empty() ? words.front() : options.map;
    eco::LinkGraph out = options.map.empty() ? graph_of(source) : graph_of_map_file(source);
    if (options.map.empty()) words.erase(words.begin());
    if (!options.ports.empty()) {
        if (options.ports != "one" && options.ports != "all")
            usage_error("schedule", "--ports takes one or all, not \"" + options.ports + "\"");
        out.ports = options.ports == "one" ? eco::Ports::one : eco::Ports::all;
    }
    try {
        eco::check(out);
    } catch (const Error& error) {
        throw Error(Status::bad_argument, fmt::format("{}: {}", source, error.what()));
    }
    return out;
}

std::uint32_t terminal_of(const eco::LinkGraph& graph, const std::string& text, const std::string& what) {
    const auto out = parse<std::uint32_t>(text);
    if (!out || *out >= graph.terminals.size())
        throw Error(Status::bad_argument, fmt::format("{} {} is no terminal: there are 0 to {}", what,
                                                      json::quote(text), graph.terminals.size() - 1));
    return *out;
}

eco::CollectiveKind collective_of(const std::string& text) {
    const auto out = eco::parse_collective_kind(text);
    if (!out) usage_error("schedule", fmt::format("{} is none of OAB, AAB, OAS and AAS", json::quote(text)));
    return *out;
}

bool has_root(eco::CollectiveKind kind) {
    return kind == eco::CollectiveKind::oab || kind == eco::CollectiveKind::oas;
}

std::uint32_t root_of(const Options& options, const eco::LinkGraph& graph, eco::CollectiveKind kind) {
    if (options.root.empty()) return 0;
    if (!has_root(kind)) usage_error("schedule", "--root goes with OAB and OAS");
    return terminal_of(graph, options.root, "root");
}

std::uint64_t seed_of(const Options& options) {
    if (options.seed.empty()) return 1;
    const auto out = parse<std::uint64_t>(options.seed);
    if (!out) usage_error("schedule", "--seed takes a whole number from 0 on, not \"" + options.seed + "\"");
    return *out;
}

Seconds time_of(const Options& options, Seconds usual) {
    if (options.time.empty()) return usual;
    const auto out = parse<double>(options.time);
    if (!out || !(*out > 0) || *out > kMostSeconds)
        usage_error("schedule",
                    fmt::format("--time takes seconds, above 0 and at most {}, not {}",
                                static_cast<std::uint64_t>(kMostSeconds), json::quote(options.time)));
    return Seconds(*out);
}

std::optional<TimeModel> time_model_of(const Options& options) {
    const TimeWords& words = options.predict;
    if (words.start.empty() && words.byte.empty() && words.size.empty()) return std::nullopt;
    if (words.start.empty() || words.byte.empty() || words.size.empty())
        usage_error("schedule",
                    "--start, --byte and --size go together: the time of a round needs all three");
    const auto bytes = size_in(words.size);
    if (!bytes)
        usage_error("schedule",
                    fmt::format("--size takes a number of bytes, as 4KiB, not {}", json::quote(words.size)));
    return TimeModel{seconds_of(words.start, "--start"), seconds_of(words.byte, "--byte"), *bytes};
}

std::uint32_t count_of(const std::string& text, const char* option, std::uint32_t usual, std::uint32_t most) {
    if (text.empty()) return usual;
    const auto out = parse<std::uint32_t>(text);
    if (!out || *out == 0 || *out > most)
        usage_error("schedule", fmt::format("{} takes a whole number from 1 to {}, not {}", option, most,
                                            json::quote(text)));
    return *out;
}

} // namespace plexus::tools::schedule
