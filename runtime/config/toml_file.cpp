// SPDX-License-Identifier: BSD-3-Clause
#include "config/toml_file.h"

#include "base/log.h"

#include <optional>
#include <toml++/toml.h>

namespace plexus::config {
namespace {

constexpr std::size_t kMaxParts = 16; // keys of Plexus have three

// The parser limits the depth of nested values but not that of dotted names, and its tables
// are destroyed by recursion: a name of many thousand parts would exhaust the stack. The
// first line that has one, by a rule that is rough but never too lenient: a run of single
// dots with nothing between that ends a name.
std::optional<std::size_t> line_of_endless_name(std::string_view text) {
    constexpr std::string_view kEndName = ",=[]{}\n";
    std::size_t line = 1;
    std::size_t dots = 0;
    bool after_dot = false;
    for (const char c : text) {
        if (c == '\n') ++line;
        if (c == ' ' || c == '\t') continue;
        if (kEndName.find(c) != std::string_view::npos || (c == '.' && after_dot)) dots = 0;
        if (c == '.' && !after_dot && ++dots > kMaxParts) return line;
        after_dot = c == '.';
    }
    return {};
}

class Flattener {
  public:
    explicit Flattener(const std::string& name)
      : name_(name) {}

    Result<void> add(const toml::table& table, const std::string& prefix, std::size_t depth) {
        for (const auto& [key, node] : table) {
            const std::string full = prefix + std::string(key.str());
            if (const toml::table* inner = node.as_table()) {
                lines_.push_back({full + ".", {}, origin(node), true});
                if (depth == kMaxParts)
                    return fail(Status::bad_config, "{}: tables this deep hold no key of Plexus",
                                origin(node));
                if (const auto added = add(*inner, full + ".", depth + 1); !added) return added;
                continue;
            }
            const auto value = node.is_array() ? joined(*node.as_array(), full) : scalar(node, full);
            if (!value) return value.failure();
            lines_.push_back({full, *value, origin(node), false});
        }
        return {};
    }

    std::vector<TomlLine> take() { return std::move(lines_); }

  private:
    std::string origin(const toml::node& node) const {
        return fmt::format("{}:{}", name_, node.source().begin.line);
    }

    Result<std::string> scalar(const toml::node& node, const std::string& key) const {
        if (const auto* text = node.as_string()) return text->get();
        if (const auto* number = node.as_integer()) return std::to_string(number->get());
        if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
        if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
        return fail(Status::bad_config,
                    "{}: {}: a setting is a text, a number, true, false or a list of them", origin(node),
                    key);
    }

    Result<std::string> joined(const toml::array& array, const std::string& key) const {
        std::string all;
        for (const toml::node& node : array) {
            auto piece = scalar(node, key);
            if (!piece) return piece;
            if (piece->find(',') != std::string::npos)
                return fail(Status::bad_config, "{}: {}: a comma in \"{}\": write one element for each piece",
                            origin(node), key, *piece);
            if (!all.empty()) all += ", ";
            all += *piece;
        }
        return all;
    }

    const std::string& name_;
    std::vector<TomlLine> lines_;
};

} // namespace

Result<std::vector<TomlLine>> read_toml(std::string_view text, const std::string& name) {
    if (const auto line = line_of_endless_name(text))
        return fail(Status::bad_config,
                    "{}:{}: this name has too many parts; a key of Plexus has at most three", name, *line);
    try {
        Flattener flat(name);
        const toml::table root = toml::parse(text, name);
        if (const auto added = flat.add(root, {}, 1); !added) return added.failure();
        return flat.take();
    } catch (const toml::parse_error& error) {
        return fail(Status::bad_config, "{}:{}: {}", name, error.source().begin.line, error.description());
    }
}

} // namespace plexus::config
