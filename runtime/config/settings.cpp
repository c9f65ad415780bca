// SPDX-License-Identifier: BSD-3-Clause
// From what was written to checked values.
#include "config/settings.h"

#include "base/log.h"
#include "config/names.h"

#include <limits>
#include <stdexcept>

namespace plexus::config {

struct Settings::Value {
    Key key;
    std::string text;
    std::string origin;
    std::uint64_t number; ///< of types that have one: bytes, nanoseconds, 0 or 1
};

namespace {

constexpr std::uint64_t kAuto = std::numeric_limits<std::uint64_t>::max();

std::string number_text(Type type, std::uint64_t number) {
    if (type == Type::size) return size_text(number);
    if (type == Type::duration)
        return duration_text(std::chrono::nanoseconds{static_cast<std::int64_t>(number)});
    return std::to_string(number);
}

Result<std::uint64_t> in_range(const Key& key, Result<std::uint64_t> number) {
    if (!number || (*number >= key.least && *number <= key.most)) return number;
    if (*number < key.least)
        return fail(Status::bad_config, "{} is too little: write {} or more", number_text(key.type, *number),
                    number_text(key.type, key.least));
    return fail(Status::bad_config, "{} is too much: write {} or less", number_text(key.type, *number),
                number_text(key.type, key.most));
}

// The value as a number where its type has one, else 0; or what would be accepted.
Result<std::uint64_t> number_of(const Key& key, std::string_view value) {
    switch (key.type) {
    case Type::boolean: {
        const auto flag = parse_boolean(value);
        if (!flag) return flag.failure();
        return std::uint64_t{*flag ? 1u : 0u};
    }
    case Type::count:
        return in_range(key, parse_count(value));
    case Type::size:
        return in_range(key, parse_size(value));
    case Type::duration: {
        const auto duration = parse_duration(value);
        if (!duration) return duration.failure();
        return in_range(key, static_cast<std::uint64_t>(duration->count()));
    }
    case Type::skip_poll: {
        if (value == "auto") return kAuto;
        const auto turns = parse_count(value);
        if (turns && *turns >= 1 && *turns <= std::numeric_limits<std::uint32_t>::max()) return *turns;
        return fail(Status::bad_config,
                    "\"{}\" is no skip_poll: write \"auto\", or k to poll in every k-th turn, from 1 on",
                    value);
    }
    case Type::choice:
        for (const std::string& word : key.accepts)
            if (word == value) return std::uint64_t{0};
        return fail(Status::bad_config, "\"{}\" is not one of {}", value, joined(key.accepts));
    case Type::text:
    case Type::list:
        return std::uint64_t{0};
    }
    return std::uint64_t{0};
}

} // namespace

Result<void> check_value(const Key& key, std::string_view value) {
    const auto number = number_of(key, value);
    if (!number) return number.failure();
    return {};
}

Result<Settings> Settings::check(const Raw& raw, Schema schema) {
    Values values;
    std::map<std::string, const Key*, std::less<>> by_variable;
    for (const Key& key : schema) {
        const auto [known, fresh] = by_variable.emplace(variable_of(key.name), &key);
        if (!fresh && raw.variables_.contains(known->first))
            return fail(Status::bad_config,
                        "{} may mean {} or {}: unset it and use the file or the command line", known->first,
                        known->second->name, key.name);
    }
    for (const Key& key : schema) {
        const Raw::Entry* written = raw.find(key.name);
        const std::string& text = written ? written->value : key.preset;
        const std::string_view origin = written ? std::string_view(written->origin) : kDefaultOrigin;
        const auto number = number_of(key, text);
        if (!number)
            return fail(number.failure().status, "{}: {}: {}", origin, key.name, number.failure().why);
        values.emplace(key.name, Value{key, text, std::string(origin), *number});
    }

    for (const auto& [key, entry] : raw.entries_)
        if (!values.contains(key)) return unknown_key(schema, key, entry.origin);
    Settings settings;
    for (const auto& [variable, entry] : raw.variables_) {
        if (by_variable.contains(variable) || is_reserved(variable)) continue;
        if (resembles_key(schema, variable)) return unknown_variable(schema, variable);
        settings.warnings_.push_back(fmt::format(
            "{}: no setting has this name: it is ignored; `plexus info --config` lists all (a key in upper "
            "case, with _ for dots)",
            variable));
    }
    for (const Raw::Entry& section : raw.sections_) {
        const auto first = values.lower_bound(section.value);
        if (first == values.end() || !first->first.starts_with(section.value))
            return unknown_key(schema, std::string_view(section.value).substr(0, section.value.size() - 1),
                               section.origin);
    }

    settings.values_ = std::make_shared<const Values>(std::move(values));
    return settings;
}

const Settings::Value& Settings::at(std::string_view key) const {
    const auto found = values_->find(key);
    if (found == values_->end()) throw std::out_of_range(fmt::format("no key {} in the schema", key));
    return found->second;
}

const Settings::Value& Settings::at(std::string_view key, Type type) const {
    const Value& value = at(key);
    if (value.key.type != type) throw std::out_of_range(fmt::format("key {} is of another type", key));
    return value;
}

bool Settings::boolean(std::string_view key) const { return at(key, Type::boolean).number != 0; }
std::uint64_t Settings::count(std::string_view key) const { return at(key, Type::count).number; }
std::uint64_t Settings::bytes(std::string_view key) const { return at(key, Type::size).number; }

std::chrono::nanoseconds Settings::duration(std::string_view key) const {
    return std::chrono::nanoseconds{static_cast<std::int64_t>(at(key, Type::duration).number)};
}

std::vector<std::string> Settings::list(std::string_view key) const {
    return split_list(at(key, Type::list).text);
}

std::optional<std::uint32_t> Settings::skip_poll(std::string_view key) const {
    const std::uint64_t number = at(key, Type::skip_poll).number;
    if (number == kAuto) return {};
    return static_cast<std::uint32_t>(number);
}

std::string Settings::text(std::string_view key) const { return at(key).text; }
std::string Settings::origin(std::string_view key) const { return at(key).origin; }

std::string Settings::plain(std::string_view key) const {
    const Value& value = at(key);
    switch (value.key.type) {
    case Type::boolean:
        return value.number != 0 ? "true" : "false";
    case Type::count:
    case Type::size:
        return std::to_string(value.number);
    case Type::duration:
        return fmt::format("{} ns", value.number);
    case Type::list:
        return joined(split_list(value.text));
    case Type::text:
    case Type::choice:
    case Type::skip_poll:
        break;
    }
    return value.text;
}

bool Settings::has(std::string_view key) const noexcept {
    return values_ != nullptr && values_->contains(key); // null: a default one, without keys
}

std::vector<Settings::Line> Settings::lines() const {
    std::vector<Line> lines;
    for (const auto& [name, value] : *values_) lines.push_back({value.key, value.text, value.origin});
    return lines;
}

} // namespace plexus::config
