// SPDX-License-Identifier: BSD-3-Clause
#include "method/list.h"

#include "base/log.h"

#include <algorithm>

namespace plexus::method {
namespace {

constexpr std::size_t kMaxName = 31;
constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// Cuts what stands before the first `mark` off the front of `text`.
std::string_view take_until(std::string_view& text, char mark) noexcept {
    const std::size_t end = text.find(mark);
    const std::string_view piece = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return piece;
}

bool is_label(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kMaxName && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

bool is_name(std::string_view text) noexcept { return is_label(text) && text[0] >= 'a' && text[0] <= 'z'; }

// A method, or one of its rows.
bool is_row(std::string_view text) noexcept {
    const std::string_view method = method_of(text);
    return is_name(method) && (method.size() == text.size() || is_label(text.substr(method.size() + 1)));
}

int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// %2C stands for a comma, and so for each byte that means something in a list, or can't be printed.
Result<std::string> decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return fail(Status::bad_config,
                        "\"{}\": % must be followed by two hexadecimal digits; write %25 for % itself", text);
        plain += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return plain;
}

std::string encoded(std::string_view plain) {
    std::string text;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const char c = plain[i];
        const bool at_edge = i == 0 || i + 1 == plain.size();
        const bool is_special = c == ',' || c == '&' || c == '%' || c < ' ' || c > '~';
        if (is_special || (at_edge && kSpaces.find(c) != std::string_view::npos)) {
            text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        } else {
            text += c;
        }
    }
    return text;
}

Result<Parameters> parse_parameters(std::string_view method, std::string_view text) {
    Parameters parameters;
    while (true) {
        const bool is_last = text.find('&') == std::string_view::npos;
        const std::string_view piece = take_until(text, '&');
        const std::size_t equals = piece.find('=');
        const std::string_view key = trimmed(piece.substr(0, equals));
        if (equals == std::string_view::npos || !is_name(key))
            return fail(Status::bad_config, "\"{}\" in the parameters of {}: write key=value, with & between",
                        piece, method);
        auto value = decoded(trimmed(piece.substr(equals + 1)));
        if (!value) return value.failure();
        if (!parameters.emplace(key, std::move(*value)).second)
            return fail(Status::bad_config, "{} is given {} twice: leave one out", method, key);
        if (is_last) return parameters;
    }
}

Result<ListItem> parse_item(std::string_view piece) {
    ListItem item;
    std::string_view rest = piece;
    if (rest.starts_with('^')) {
        item.excluded = true;
        rest.remove_prefix(1);
    }
    const bool has_parameters = rest.find('?') != std::string_view::npos;
    const std::string_view name = trimmed(take_until(rest, '?'));
    if (!is_row(name))
        return fail(Status::bad_config,
                    "\"{}\" names no method: write names with commas between, such as \"first, "
                    "second?key=value\", or "
                    "\"^name\" for all but one",
                    piece);
    item.method = name;
    if (has_parameters && item.excluded)
        return fail(Status::bad_config, "\"{}\": a method that is excluded takes no parameters", piece);
    if (has_parameters) {
        auto parameters = parse_parameters(name, rest);
        if (!parameters) return parameters.failure();
        item.parameters = std::move(*parameters);
    }
    return item;
}

} // namespace

Result<std::vector<ListItem>> parse_list(std::string_view text) {
    std::vector<ListItem> list;
    if (trimmed(text).empty()) return list;
    while (true) {
        const bool is_last = text.find(',') == std::string_view::npos;
        auto item = parse_item(trimmed(take_until(text, ',')));
        if (!item) return item.failure();
        for (const ListItem& other : list)
            if (other.method == item->method)
                return fail(Status::bad_config, "the list names {} twice: leave one out", item->method);
        list.push_back(std::move(*item));
        if (is_last) return list;
    }
}

std::string to_text(const std::vector<ListItem>& list) {
    std::string text;
    for (const ListItem& item : list) {
        if (!text.empty()) text += ", ";
        if (item.excluded) text += '^';
        text += item.method;
        char mark = '?';
        for (const auto& [key, value] : item.parameters) {
            text += fmt::format("{}{}={}", mark, key, encoded(value));
            mark = '&';
        }
    }
    return text;
}

std::vector<std::string> names_of(const std::vector<ListItem>& list) {
    std::vector<std::string> names;
    for (const ListItem& item : list) names.push_back(item.excluded ? "^" + item.method : item.method);
    return names;
}

std::string_view method_of(std::string_view row) noexcept { return row.substr(0, row.find(':')); }

std::vector<ListItem> without_rows(const std::vector<ListItem>& list) {
    std::vector<ListItem> methods;
    for (const ListItem& item : list) {
        const std::string method(method_of(item.method));
        const bool known = std::any_of(methods.begin(), methods.end(),
                                       [&](const ListItem& each) { return each.method == method; });
        if (known || (item.excluded && method != item.method)) continue;
        methods.push_back({method, item.parameters, item.excluded});
    }
    return methods;
}

std::vector<ListItem> apply_list(const std::vector<ListItem>& list,
                                 const std::vector<std::string>& available) {
    const bool only_excludes =
        std::all_of(list.begin(), list.end(), [](const ListItem& item) { return item.excluded; });
    std::vector<ListItem> order;
    const auto add = [&](const std::string& name, const Parameters& parameters) {
        const bool settled = std::any_of(list.begin(), list.end(),
                                         [&](const ListItem& item) {
                                             return item.excluded && means_row(item.method, name);
                                         }) ||
                             std::any_of(order.begin(), order.end(),
                                         [&](const ListItem& item) { return item.method == name; });
        if (!settled) order.push_back({name, parameters, false});
    };
    if (only_excludes)
        for (const std::string& name : available) add(name, {});
    for (const ListItem& item : list)
        if (!item.excluded)
            for (const std::string& name : available)
                if (means_row(item.method, name)) add(name, item.parameters);
    return order;
}

} // namespace plexus::method
