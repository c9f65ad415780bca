// SPDX-License-Identifier: BSD-3-Clause
#include "wire/signature.h"

#include <algorithm>
#include <vector>

namespace plexus::wire {
namespace {

constexpr std::string_view kBefore = " is declared as ";
constexpr std::string_view kAfter = " in context ";

/// "f64(i32,map<string,i8>)": the result, then each argument. Empty if it is no signature.
std::vector<std::string_view> parts_of(std::string_view types) {
    // The parenthesis of a struct's size, "struct(8,4){…}(…)", belongs to a type.
    int depth = 0;
    std::size_t open = 0;
    for (std::size_t i = types.size(); i-- > 0;) {
        if (types[i] == ')') ++depth;
        if (types[i] == '(' && --depth == 0) {
            open = i;
            break;
        }
    }
    if (open == 0 || !types.ends_with(')')) return {};
    std::vector<std::string_view> parts{types.substr(0, open)};
    std::size_t from = open + 1;
    for (std::size_t i = from; i < types.size(); ++i) {
        const char c = types[i];
        const bool last = i + 1 == types.size();
        if (depth == 0 && (c == ',' || last)) {
            if (i > from || !last) parts.push_back(types.substr(from, i - from));
            from = i + 1;
        }
        if (c == '(' || c == '<' || c == '{') ++depth;
        if (c == ')' || c == '>' || c == '}') --depth;
    }
    return parts;
}

std::string difference(std::string_view there, std::string_view here) {
    const auto theirs = parts_of(there);
    const auto ours = parts_of(here);
    if (theirs.empty() || ours.empty()) return {};
    for (std::size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i) {
        if (theirs[i] == ours[i]) continue;
        return ": " + (i == 0 ? std::string("the result") : "argument " + std::to_string(i)) + " is " +
               std::string(theirs[i]) + " there and " + std::string(ours[i]) + " here";
    }
    if (theirs.size() == ours.size()) return {};
    return ": it has " + std::to_string(theirs.size() - 1) + " arguments there and " +
           std::to_string(ours.size() - 1) + " here";
}

} // namespace

std::string declared_as(std::string_view name, std::string_view types, std::string_view context) {
    std::string text = "\"" + std::string(name) + "\"";
    text.append(kBefore).append(types).append(kAfter).append(context);
    return text + ": both programs need the same declaration";
}

std::string with_own_types(std::string_view refusal, std::string_view own) {
    std::string text(refusal);
    const std::size_t before = refusal.find(kBefore);
    if (before == std::string_view::npos) return text; // another reason
    text.append("; here it is ").append(own);
    const std::size_t from = before + kBefore.size();
    const std::size_t to = refusal.find(kAfter, from);
    return to == std::string_view::npos ? text : text + difference(refusal.substr(from, to - from), own);
}

} // namespace plexus::wire
