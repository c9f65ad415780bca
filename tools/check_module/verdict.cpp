// SPDX-License-Identifier: BSD-3-Clause
#include "tools/check_module/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::tools {
namespace {

constexpr int kHolds = 0;
constexpr int kBroken = 1;
constexpr int kSkipped = 77;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0) lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// The last line of the helper program says how the promise ended. If a module ends the process, that line is
// missing, whatever the exit code.
bool is_account(const Ending& ending, const std::vector<std::string>& lines) {
    const char* expected = ending.code == kHolds     ? "cases: 1 passed, 0 failed, 0 skipped"
                           : ending.code == kBroken  ? "cases: 0 passed, 1 failed, 0 skipped"
                           : ending.code == kSkipped ? "cases: 0 passed, 0 failed, 1 skipped"
                                                     : "";
    return !lines.empty() && lines.back() == expected;
}

bool is_decoration(const std::string& line) {
    constexpr std::string_view kPrefixes[] = {"cases: ", "Passed ", "Failed ", "Filters: ", "RNG seed: "};
    return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                       [&](std::string_view prefix) { return line.starts_with(prefix); });
}

} // namespace

std::optional<std::string> admitted(const Ending& ending, std::chrono::milliseconds limit, std::string& why) {
    why = violent_end(ending, limit);
    if (!why.empty()) {
        why = "loading and opening it in a process of its own did not go well: " + why;
        return std::nullopt;
    }
    const std::vector<std::string> lines = lines_of(ending.output);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        std::string_view text = *line;
        if (ending.code == kHolds && take_prefix(text, "module: ")) return std::string(text);
        if (ending.code != kHolds && take_prefix(text, "refused: ")) {
            why = text;
            return std::nullopt;
        }
    }
    why = fmt::format("loading or opening it ended the process, with exit code {}", ending.code);
    return std::nullopt;
}

std::vector<Promise> promises_in(std::string_view listing) {
    std::vector<Promise> promises;
    for (const std::string& line : lines_of(listing)) {
        const std::size_t tab = line.find('\t');
        if (tab != line.npos) promises.push_back({line.substr(0, tab), line.substr(tab + 1)});
    }
    return promises;
}

Outcome outcome_of(const Ending& ending, std::chrono::milliseconds limit) {
    Outcome outcome;
    std::vector<std::string> lines = lines_of(ending.output);
    const std::string end = violent_end(ending, limit);
    if (!end.empty()) {
        outcome.because.push_back(end);
    } else if (!is_account(ending, lines)) {
        outcome.because.push_back(
            fmt::format("the module ended the process, with exit code {}", ending.code));
    } else if (ending.code == kHolds) {
        outcome.kept = Kept::yes;
        return outcome;
    } else if (ending.code == kSkipped) {
        outcome.kept = Kept::skipped;
        for (const std::string& line : lines) {
            const std::size_t quote = line.rfind("\": ");
            if (line.starts_with("skipped: ") && quote != line.npos && outcome.because.empty())
                outcome.because.push_back(line.substr(quote + 3));
        }
        return outcome;
    }
    std::erase_if(lines, is_decoration);
    outcome.because.insert(outcome.because.end(), lines.begin(), lines.end());
    return outcome;
}

} // namespace plexus::tools
