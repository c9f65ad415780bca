// SPDX-License-Identifier: BSD-3-Clause
#include "config/names.h"

#include "base/log.h"
#include "base/spelling.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace plexus::config {
namespace {

constexpr std::string_view kMethodSection = "method.";

std::vector<std::string> names_of(const Schema& schema) {
    std::vector<std::string> names;
    for (const Key& key : schema) names.push_back(key.name);
    return names;
}

// What stands below `section` ("progress."), sorted.
std::vector<std::string> below(const Schema& schema, std::string_view section) {
    std::vector<std::string> names;
    for (const Key& key : schema)
        if (key.name.starts_with(section)) names.push_back(key.name.substr(section.size()));
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> methods_of(const Schema& schema) {
    std::set<std::string> methods;
    for (const std::string& name : below(schema, kMethodSection))
        methods.insert(name.substr(0, name.find('.')));
    return {methods.begin(), methods.end()};
}

// The known variable nearest to `variable`. The prefix that all have in common makes none nearer.
std::optional<std::string> nearest_variable(const Schema& schema, std::string_view variable) {
    std::vector<std::string> known;
    for (const Key& key : schema) known.push_back(variable_of(key.name).substr(kVariable.size()));
    const auto near = nearest(variable.substr(std::min(kVariable.size(), variable.size())), known);
    if (!near) return {};
    return fmt::format("{}{}", kVariable, *near);
}

// A known key that ends in ".<key>", if there is just one: the user left the section out.
std::optional<std::string> only_one_below(const Schema& schema, std::string_view key) {
    const std::string tail = fmt::format(".{}", key);
    std::optional<std::string> found;
    for (const Key& known : schema) {
        if (!known.name.ends_with(tail)) continue;
        if (found) return {};
        found = known.name;
    }
    return found;
}

} // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
    const std::string wanted = lower(word);
    std::size_t best = std::max<std::size_t>(1, wanted.size() / 4) + 1; // more is another word
    std::optional<std::string> found;
    for (const std::string& candidate : known) {
        const std::size_t slips = edit_distance(wanted, lower(candidate));
        if (slips >= best) continue;
        best = slips;
        found = candidate;
    }
    return found;
}

std::string variable_of(std::string_view key) {
    std::string name(kVariable);
    for (const char c : key) {
        if (c >= 'a' && c <= 'z') {
            name += static_cast<char>(c - 'a' + 'A');
        } else {
            name += c == '.' ? '_' : c;
        }
    }
    return name;
}

bool is_reserved(std::string_view variable) noexcept {
    return variable == "PLEXUS_CONFIG" || variable.starts_with("PLEXUS_JOB_");
}

std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    const auto near = nearest(word, known);
    return near ? fmt::format("; did you mean \"{}\"?", *near) : std::string{};
}

Failure unknown_key(const Schema& schema, std::string_view key, std::string_view origin) {
    if (const auto inside = below(schema, std::string(key) + "."); !inside.empty() && !key.empty())
        return fail(Status::bad_config, "{}: \"{}\" is a section, not a key; it takes {}", origin, key,
                    joined(inside));

    const std::size_t dot = key.rfind('.');
    if (key.starts_with(kMethodSection)) {
        const std::string_view rest = key.substr(kMethodSection.size());
        const std::string_view method = rest.substr(0, rest.find('.'));
        const auto methods = methods_of(schema);
        if (std::find(methods.begin(), methods.end(), method) == methods.end())
            return fail(Status::bad_config, "{}: there is no method \"{}\"{} Methods here: {}", origin,
                        method, nearest(method, methods) ? suggestion(method, methods) : ".",
                        joined(methods));
    }

    auto near = nearest(key, names_of(schema));
    if (!near) near = only_one_below(schema, key);
    const std::string hint = near ? fmt::format("; did you mean \"{}\"?", *near) : ".";
    if (dot != std::string_view::npos) {
        const std::string_view section = key.substr(0, dot);
        if (const auto inside = below(schema, key.substr(0, dot + 1)); !inside.empty())
            return fail(Status::bad_config, "{}: unknown key \"{}\"{} [{}] takes {}", origin, key, hint,
                        section, joined(inside));
    }
    return fail(Status::bad_config, "{}: unknown key \"{}\"{} `plexus info --config` lists all keys", origin,
                key, hint);
}

Failure unknown_variable(const Schema& schema, std::string_view variable) {
    if (const auto near = nearest_variable(schema, variable))
        return fail(Status::bad_config, "{}: no setting has this name; did you mean {}?", variable, *near);
    return fail(
        Status::bad_config,
        "{}: no setting has this name; unset it, or take a name from `plexus info --config` (a key in upper "
        "case, with _ for dots)",
        variable);
}

bool resembles_key(const Schema& schema, std::string_view variable) {
    if (nearest_variable(schema, variable)) return true;
    for (const Key& key : schema) {
        const std::size_t dot = key.name.find('.');
        if (dot == std::string::npos) continue;
        if (variable.starts_with(variable_of(std::string_view(key.name).substr(0, dot + 1)))) return true;
    }
    return false;
}

Result<void> check_methods(const std::vector<std::string>& written, const std::vector<std::string>& present,
                           const std::vector<std::string>& searched, std::string_view origin) {
    if (origin == kDefaultOrigin) return {};
    const auto has = [](const std::vector<std::string>& words, std::string_view word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    const auto by_default = split_list(default_methods());
    for (std::string_view name : written) {
        const bool excluded = name.starts_with('^');
        if (excluded) name.remove_prefix(1);
        // A program may suggest an order for machines with and without the optional methods.
        const bool may_be_absent = excluded || origin == kSuggestedOrigin;
        if (has(present, name) || (may_be_absent && has(by_default, name))) continue;
        const auto near = nearest(name, present);
        return fail(Status::bad_config, "{}: no module provides the method \"{}\"{} Methods here: {}. {}",
                    origin, name, near ? suggestion(name, present) : ".", joined(present),
                    searched.empty() ? std::string("No folder was searched for more")
                                     : "Searched for more: " + joined(searched));
    }
    return {};
}

} // namespace plexus::config
