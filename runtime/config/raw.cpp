// SPDX-License-Identifier: BSD-3-Clause
// Collects what file, environment, command line and program say, each with its origin.
#include "base/log.h"
#include "base/unique_fd.h"
#include "config/names.h"
#include "config/settings.h"
#include "config/toml_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace plexus::config {
namespace {

constexpr std::string_view kOption = "--plexus-";
constexpr std::string_view kVariable = "PLEXUS_";
constexpr std::size_t kMaxFile = std::size_t{1} << 20; // a configuration, not a device that never ends

std::string system_text(int error) { return std::system_category().message(error); }

// The bytes of a file; nothing if there is none.
Result<std::optional<std::string>> contents(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>{};
    std::string text;
    while (fd) {
        char block[4096];
        const ssize_t count = ::read(fd.get(), block, sizeof block);
        if (count == 0) return std::optional(std::move(text));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) break;
        text.append(block, static_cast<std::size_t>(count));
        if (text.size() > kMaxFile)
            return fail(Status::bad_config, "{} is larger than {}: this is no configuration file", path,
                        size_text(kMaxFile));
    }
    return fail(Status::bad_config, "can't read the configuration file {}: {}", path, system_text(errno));
}

// Where a file is looked for when nobody names one: the user's folders, then the system's.
std::vector<std::string> usual_places() {
    std::vector<std::string> places{"plexus.toml"};
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (config && *config) {
        places.push_back(std::string(config) + "/plexus/plexus.toml");
    } else if (home && *home) {
        places.push_back(std::string(home) + "/.config/plexus/plexus.toml");
    }
    places.push_back("/etc/plexus.toml");
    return places;
}

} // namespace

std::map<std::string, std::string> plexus_environment() {
    std::map<std::string, std::string> found;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view line = *entry;
        const std::size_t equals = line.find('=');
        if (!line.starts_with(kVariable) || equals == std::string_view::npos) continue;
        found.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    return found;
}

// Returns the file that --plexus-config names, if any.
Result<std::string> Raw::take_arguments(const std::vector<std::string>& arguments) {
    std::string config;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--") {
            remaining_.insert(remaining_.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                              arguments.end());
            break;
        }
        if (!argument.starts_with(kOption)) {
            remaining_.push_back(argument);
            continue;
        }
        const std::size_t equals = argument.find('=');
        const std::string option = argument.substr(0, equals);
        std::string key = option.substr(kOption.size());
        if (key.empty())
            return fail(Status::bad_config, "{}: write --plexus-<key>=<value>, such as --plexus-log=info",
                        argument);
        std::string value;
        if (equals != std::string::npos) {
            value = argument.substr(equals + 1);
        } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
            value = arguments[++i];
        } else {
            return fail(Status::bad_config, "{} needs a value: write {}=<value>", option, option);
        }
        if (key == "config") {
            config = std::move(value);
        } else {
            entries_.insert_or_assign(std::move(key), Entry{std::move(value), option, Layer::arguments});
        }
    }
    return config;
}

Result<void> Raw::read_file(const Sources& sources, const std::string& named, std::string_view by) {
    const bool must_exist = !named.empty();
    if (sources.file && !must_exist) return {};
    for (const std::string& place : must_exist ? std::vector{named} : usual_places()) {
        auto text = contents(place);
        if (!text) return text.failure();
        if (!*text && must_exist) return fail(Status::not_found, "{}: there is no file {}", by, place);
        if (!*text) continue;
        file_ = place;
        auto lines = read_toml(**text, place);
        if (!lines) return lines.failure();
        for (TomlLine& line : *lines) {
            Entry entry{std::move(line.value), std::move(line.origin), Layer::file};
            if (line.is_table) {
                entry.value = std::move(line.key);
                sections_.push_back(std::move(entry));
            } else {
                entries_.try_emplace(std::move(line.key),
                                     std::move(entry)); // higher layers are there already
            }
        }
        break;
    }
    return {};
}

Result<Raw> Raw::gather(const Sources& sources) {
    Raw raw;
    auto config = raw.take_arguments(sources.arguments);
    if (!config) return config.failure();
    for (const auto& [key, value] : sources.program)
        raw.entries_.insert_or_assign(key, Entry{value, "program", Layer::program});
    for (const auto& [variable, value] : sources.environment)
        if (!value.empty()) raw.variables_.emplace(variable, Entry{value, variable, Layer::environment});

    std::string named = std::move(*config);
    std::string_view by = "--plexus-config";
    if (sources.file) {
        named = *sources.file;
        by = "program";
    } else if (const auto variable = raw.variables_.find("PLEXUS_CONFIG");
               named.empty() && variable != raw.variables_.end()) {
        named = variable->second.value;
        by = "PLEXUS_CONFIG";
    }
    if (const auto read = raw.read_file(sources, named, by); !read) return read.failure();
    return raw;
}

const Raw::Entry* Raw::find(std::string_view key) const noexcept {
    const auto entry = entries_.find(key);
    if (entry != entries_.end() && entry->second.layer >= Layer::environment) return &entry->second;
    if (const auto variable = variables_.find(variable_of(key)); variable != variables_.end())
        return &variable->second;
    return entry == entries_.end() ? nullptr : &entry->second;
}

void Raw::imply(std::string_view from, std::string key, std::string value) {
    const Entry* source = find(from);
    if (!source) return;
    Entry implied{std::move(value), source->origin, source->layer};
    const auto [entry, fresh] = entries_.try_emplace(std::move(key), implied);
    if (!fresh && entry->second.layer <= implied.layer) entry->second = std::move(implied);
}

void Raw::leave_out(std::string_view section) {
    const std::string prefix = fmt::format("{}.", section);
    const std::string variable = variable_of(prefix);
    std::erase_if(entries_, [&](const auto& each) { return each.first.starts_with(prefix); });
    std::erase_if(variables_, [&](const auto& each) { return each.first.starts_with(variable); });
    std::erase_if(sections_, [&](const Entry& each) { return each.value.starts_with(prefix); });
}

} // namespace plexus::config
