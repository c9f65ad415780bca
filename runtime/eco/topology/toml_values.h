// SPDX-License-Identifier: BSD-3-Clause
// Values of a map's or a history's TOML, each with its line in the refusal. Pure.
#pragma once

#include "topology/refuse.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <toml++/toml.h>

namespace plexus::eco {

/// In a row, without anything between that ends a name: the readers refuse more, and the writer escapes them.
inline constexpr std::size_t kMostDots = 16;

/// The parser destroys dotted names by recursion, so one of many thousand parts would exhaust the stack: no
/// key of these files has a dot. Rough, but never too lenient: dots without anything between that ends a
/// name.
inline bool has_endless_name(std::string_view text) {
    std::size_t dots = 0;
    for (const char each : text) {
        if (std::string_view(",=[]{}\n").find(each) != std::string_view::npos) dots = 0;
        if (each == '.' && ++dots > kMostDots) return true;
    }
    return false;
}

class TomlValues {
  public:
    /// `name` is the file's, for the sentences, and outlives this. `what` is in the file: "map".
    TomlValues(const std::string& name, std::string_view what)
      : name_(name)
      , what_(what) {}

    const std::string& file() const noexcept { return name_; }
    std::string origin(const toml::node& node) const {
        return fmt::format("{}:{}", name_, node.source().begin.line);
    }

    /// @error bad_config it is missing or of another kind (thrown); so with those below
    template <class Value>
    Value want(const toml::table& table, std::string_view key, const char* kind) const {
        const toml::node* node = table.get(key);
        if (node == nullptr)
            refuse(Status::bad_config, "{}: {} is missing: this is no {}, or it was cut off",
                   table.source().begin.line > 0 ? origin(table) : name_, key, what_);
        const auto value = node->value_exact<Value>();
        if (!value) refuse(Status::bad_config, "{}: {} is {}", origin(*node), key, kind);
        return *value;
    }

    const toml::array& list(const toml::table& table, std::string_view key) const {
        const toml::node* node = table.get(key);
        if (node == nullptr)
            refuse(Status::bad_config, "{}: {} is missing: this is no {}, or it was cut off", origin(table),
                   key, what_);
        if (!node->is_array()) refuse(Status::bad_config, "{}: {} is a list", origin(*node), key);
        return *node->as_array();
    }

    void know(const toml::table& table, std::initializer_list<std::string_view> keys) const {
        for (const auto& [key, node] : table)
            if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
                refuse(Status::bad_config, "{}: a {} has no \"{}\"; here it has {}", origin(node), what_,
                       key.str(), fmt::join(keys, ", "));
    }

    /// Whole numbers as well, also those that no double is equal to. Nothing: it is no number.
    static std::optional<double> number(const toml::node& node) {
        if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
        if (const auto* other = node.as_floating_point()) return other->get();
        return {};
    }

  private:
    const std::string& name_;
    const std::string_view what_;
};

} // namespace plexus::eco
