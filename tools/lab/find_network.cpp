// SPDX-License-Identifier: BSD-3-Clause
// Where networks are: in the named file, beside the program in a build, or in the folder where Plexus was
// installed; link graphs have names or JSON files.
#include "plexus/error.h"
#include "tools/common/table_file.h"
#include "tools/lab/graph_network.h"
#include "tools/lab/network_file.h"
#include "tools/schedule/graph_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plexus::tools::lab {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders() {
    std::error_code none;
    const fs::path here = fs::read_symlink("/proc/self/exe", none).parent_path();
    return {here / "lab" / "networks",
            here / fs::path(PLEXUS_DATADIR).lexically_relative(PLEXUS_BINDIR) / "plexus" / "networks",
            fs::path(PLEXUS_DATADIR) / "plexus" / "networks"};
}

Network load(const fs::path& path) {
    const auto bytes = read_file(path.string());
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    return read_network({text, bytes.size()}, path.string());
}

/// "btree-16": the kind is one of graph_kinds().
bool is_graph(const std::string& name) {
    const auto& kinds = eco::graph_kinds();
    return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
        return name.starts_with(kind.substr(0, kind.find('-') + 1));
    });
}

} // namespace

Speed default_link_speed() { return {100'000'000, std::chrono::microseconds(50)}; }

Network load_network(const std::string& name_or_path, const std::optional<Speed>& links) {
    const bool is_json = name_or_path.ends_with(".json");
    const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
    if (is_json || (!is_path && is_graph(name_or_path))) {
        Network network = network_of(schedule::graph_of(name_or_path), links.value_or(default_link_speed()));
        if (is_json) network.name = fs::path(name_or_path).stem().string();
        return network;
    }
    if (links)
        throw Error(Status::bad_argument,
                    fmt::format("the links of \"{}\" have speeds of their own: only a link graph's are given "
                                "on the command line",
                                name_or_path));
    if (is_path) return load(name_or_path);
    for (const fs::path& folder : folders()) {
        const fs::path path = folder / (name_or_path + ".toml");
        std::error_code none;
        if (fs::is_regular_file(path, none)) return load(path);
    }
    throw Error(Status::not_found,
                fmt::format("there is no network \"{}\": the known ones are {}, and link graphs ({}); a "
                            "file's name ends in .toml, a link graph's in .json",
                            name_or_path, fmt::join(known_networks(), ", "),
                            fmt::join(eco::graph_kinds(), ", ")));
}

std::vector<std::string> known_networks() {
    std::vector<std::string> names;
    for (const fs::path& folder : folders()) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(folder, none))
            if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

} // namespace plexus::tools::lab
