// SPDX-License-Identifier: BSD-3-Clause
// Collects what program, file, environment and command line say, each with its origin.
#include "base/log.h"
#include "base/unique_fd.h"
#include "config/names.h"
#include "config/settings.h"
#include "config/toml_file.h"
#include "config/trust.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace plexus::config {
namespace {

constexpr std::string_view kOption = "--plexus-";
constexpr std::size_t kMaxFile = std::size_t{1} << 20; // a configuration, not a device that never ends

std::string system_text(int error) { return std::system_category().message(error); }

// A named file may be a pipe of the shell's, a found one must not keep us waiting.
enum class How : std::uint8_t { named, found };

UniqueFd open_file(const std::string& path, How how) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (how == How::found ? O_NONBLOCK : 0)));
}

bool says_absent(int error) noexcept { return error == ENOENT || error == ENOTDIR; }

Failure cant_read(const std::string& path, int error) {
    return fail(Status::bad_config, "can't read the configuration file {}: {}", path, system_text(error));
}

Result<std::string> contents(const UniqueFd& fd, const std::string& path) {
    std::string text;
    for (;;) {
        char block[4096];
        const ssize_t count = ::read(fd.get(), block, sizeof block);
        if (count == 0) return text;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return cant_read(path, errno);
        text.append(block, static_cast<std::size_t>(count));
        if (text.size() > kMaxFile)
            return fail(Status::bad_config, "{} is larger than {}: this is no configuration file", path,
                        size_text(kMaxFile));
    }
}

constexpr std::string_view kInWorkingFolder = "plexus.toml";

// Where a file is looked for when nobody names one: the user's folders, then the system's. What a
// caller with fewer rights could choose is not among them.
std::vector<std::string> usual_places(bool privileged) {
    std::vector<std::string> places;
    if (!privileged) {
        places.emplace_back(kInWorkingFolder);
        const char* config = std::getenv("XDG_CONFIG_HOME");
        const char* home = std::getenv("HOME");
        if (config && *config) {
            places.push_back(std::string(config) + "/plexus/plexus.toml");
        } else if (home && *home) {
            places.push_back(std::string(home) + "/.config/plexus/plexus.toml");
        }
    }
    places.push_back("/etc/plexus.toml");
    return places;
}

// How to have a file count after all, for the end of a warning.
std::string name_it(std::string_view file) {
    return fmt::format("--plexus-config={} or PLEXUS_CONFIG={}", file, file);
}

} // namespace

bool has_more_rights_than_caller() noexcept { return ::getauxval(AT_SECURE) != 0; }

std::map<std::string, std::string> plexus_environment() {
    std::map<std::string, std::string> found;
    if (has_more_rights_than_caller()) return found;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view line = *entry;
        const std::size_t equals = line.find('=');
        if (!line.starts_with(kVariable) || equals == std::string_view::npos) continue;
        found.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    return found;
}

// Returns the file that --plexus-config names, if any.
Result<std::string> Raw::take_arguments(const std::vector<std::string>& arguments, bool privileged) {
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
        if (privileged)
            return fail(Status::denied,
                        "{}: this program has rights that its caller lacks (setuid, setgid or file "
                        "capabilities): its configuration is /etc/plexus.toml and what the program sets",
                        argument);
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

Result<void> Raw::take_text(const std::string& text, const std::string& file, bool named) {
    file_ = file;
    auto lines = read_toml(text, file);
    if (!lines) return lines.failure();
    const bool restricted = !named && file == kInWorkingFolder;
    for (TomlLine& line : *lines) {
        Entry entry{std::move(line.value), std::move(line.origin), Layer::file, restricted};
        if (line.is_table) {
            entry.value = std::move(line.key);
            sections_.push_back(std::move(entry));
        } else if (!is_withheld(line.key, entry)) {
            entries_.try_emplace(std::move(line.key), std::move(entry)); // higher layers are there already
        }
    }
    return {};
}

bool Raw::is_withheld(std::string_view key, const Entry& entry) {
    if (!entry.restricted || !needs_named_file(key)) return false;
    warnings_.push_back(fmt::format(
        "{}: {} is passed over: a file that is only found in the working folder may not say which "
        "code is loaded, which keys and certificates are used, where others may connect or who relays; "
        "name the file with {}, or set this key elsewhere",
        entry.origin, key, name_it(file_)));
    return true;
}

Result<void> Raw::find_file(bool privileged) {
    for (const std::string& place : usual_places(privileged)) {
        const UniqueFd fd = open_file(place, How::found);
        const int error = errno;
        if (!fd && says_absent(error)) continue;
        if (const auto why = fd ? distrust(fd.get(), place) : distrust_folder(place)) {
            warnings_.push_back(fmt::format("{} is passed over: {}; if you trust it, name it with {}", place,
                                            *why, name_it(place)));
            continue;
        }
        if (!fd) return cant_read(place, error);
        struct stat about {};
        if (::fstat(fd.get(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
            return fail(Status::bad_config, "{} is not a plain file: remove it, or name the file to be read",
                        place);
        const auto text = contents(fd, place);
        if (!text) return text.failure();
        return take_text(*text, place, false);
    }
    return {};
}

Result<void> Raw::read_named(const std::string& place, std::string_view by) {
    const UniqueFd fd = open_file(place, How::named);
    if (!fd && says_absent(errno)) return fail(Status::not_found, "{}: there is no file {}", by, place);
    if (!fd) return cant_read(place, errno);
    const auto text = contents(fd, place);
    if (!text) return text.failure();
    return take_text(*text, place, true);
}

Result<Raw> Raw::gather(const Sources& sources) {
    Raw raw;
    auto config = raw.take_arguments(sources.arguments, sources.privileged);
    if (!config) return config.failure();
    for (const auto& [key, value] : sources.program)
        raw.entries_.insert_or_assign(key, Entry{value, "program", Layer::program});
    for (const auto& [variable, value] : sources.environment)
        if (!value.empty() && !sources.privileged)
            raw.variables_.emplace(variable, Entry{value, variable, Layer::environment});

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
    Result<void> read;
    if (!named.empty()) {
        read = raw.read_named(named, by);
    } else if (!sources.file) {
        read = raw.find_file(sources.privileged);
    }
    if (!read) return read.failure();
    for (const auto& [key, value] : sources.defaults) // last: every other layer is there already
        raw.entries_.try_emplace(key, Entry{value, std::string(kSuggestedOrigin), Layer::suggested});
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
    if (!source || is_withheld(key, *source)) return;
    Entry implied{std::move(value), source->origin, source->layer, source->restricted};
    const auto [entry, fresh] = entries_.try_emplace(std::move(key), implied);
    if (!fresh && entry->second.layer <= implied.layer) entry->second = std::move(implied);
}

void Raw::complete(std::string_view from, std::string key, std::string value) {
    const Entry* source = find(from);
    if (!source || find(key)) return;
    Entry entry{std::move(value), fmt::format("{} ({})", from, source->origin), source->layer};
    entries_.insert_or_assign(std::move(key), std::move(entry));
}

void Raw::presume(std::string origin, std::string key, std::string value) {
    if (find(key)) return;
    entries_.insert_or_assign(std::move(key), Entry{std::move(value), std::move(origin), Layer::suggested});
}

void Raw::leave_out(std::string_view section) {
    const std::string prefix = fmt::format("{}.", section);
    const std::string variable = variable_of(prefix);
    std::erase_if(entries_, [&](const auto& each) { return each.first.starts_with(prefix); });
    std::erase_if(variables_, [&](const auto& each) { return each.first.starts_with(variable); });
    std::erase_if(sections_, [&](const Entry& each) { return each.value.starts_with(prefix); });
}

} // namespace plexus::config
