// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/launch_options.h"

#include "tools/common/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

namespace plexus::tools {
namespace {

std::pair<std::string, std::string> name_and_value(const std::string& text, const char* option,
                                                   const char* example, const char* verb) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
        usage_error(verb, std::string(option) + " wants " + example + ", not \"" + text + "\"");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

} // namespace

NamesAndValues variables_from(const std::vector<std::string>& words, const char* verb) {
    NamesAndValues found;
    for (const std::string& word : words) {
        // A name alone passes a variable on, which happens anyway: only check that it is there.
        if (word.find('=') != std::string::npos) {
            found.push_back(name_and_value(word, "-x", "NAME=VALUE", verb));
        } else if (const char* value = std::getenv(word.c_str())) {
            found.emplace_back(word, value);
        } else {
            usage_error(verb, "-x " + word + ": there is no such variable here, so give it a value with -x " +
                                  word + "=VALUE");
        }
    }
    return found;
}

NamesAndValues settings_from(const std::vector<std::string>& words, const char* verb) {
    NamesAndValues found;
    for (const std::string& word : words)
        found.push_back(name_and_value(word, "--set", "KEY=VALUE, like method.tcp.sndbuf=4MiB", verb));
    return found;
}

std::vector<std::string> parse_before_program(CLI::App& app, const std::vector<std::string>& words,
                                              const char* verb, const char* place) {
    const auto mark = std::find(words.begin(), words.end(), "--");
    std::vector<std::string> ours(words.begin(), mark);
    std::reverse(ours.begin(), ours.end()); // as CLI11 wants them
    try {
        app.parse(std::move(ours));
    } catch (const CLI::CallForHelp&) { throw; } catch (const CLI::ParseError& error) {
        usage_error(verb, error.what());
    }
    std::vector<std::string> program = app.remaining();
    if (!program.empty() && program.front().starts_with('-'))
        usage_error(verb, "\"" + program.front() + "\" is no option of plexus " + verb + place);
    if (mark != words.end()) program.insert(program.end(), program.empty() ? mark + 1 : mark, words.end());
    return program;
}

} // namespace plexus::tools
