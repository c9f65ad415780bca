// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/command_line.h"

#include "tools/common/launch_options.h"

#include <algorithm>
#include <cstdio>

namespace plexus::tools {

CommandLine::CommandLine(std::string verb, const std::string& summary, std::string usage,
                         const std::string& footer, const CommonHelp& help)
  : verb_(std::move(verb))
  , app_(summary)
  , runtime_options_(help.runtime_options) {
    app_.formatter(help_layout(verb_ + " " + std::move(usage)));
    app_.footer((footer.empty() ? "" : "\n" + footer + "\n") + "\n" + help.ending);
    app_.add_flag("--json", json_, "Print JSON");
    if (help.set != nullptr)
        app_.add_option("--set", set_, help.set)->type_name("KEY=VALUE")->expected(1)->take_all();
}

bool CommandLine::parse(int count, char** arguments) {
    constexpr std::string_view kOurs = "--plexus-";
    plexus_.assign(1, "plexus " + verb_);
    std::vector<std::string> words;
    for (int at = 1; at < count; ++at) {
        const std::string word = arguments[at];
        const bool ours = runtime_options_ && word.starts_with(kOurs); // otherwise CLI11 refuses it
        (ours ? plexus_ : words).push_back(word);
        const bool value_follows = ours && word.find('=') == word.npos && at + 1 < count;
        if (value_follows && !std::string_view(arguments[at + 1]).starts_with("--"))
            plexus_.emplace_back(arguments[++at]);
    }
    std::reverse(words.begin(), words.end()); // as CLI11 wants them
    try {
        app_.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        std::fputs(app_.help().c_str(), stdout);
        return false;
    } catch (const CLI::ParseError& error) { usage_error(verb_, error.what()); }
    for (auto& [key, value] : settings_from(set_, verb_.c_str())) settings_[key] = std::move(value);
    return true;
}

std::vector<const char*> CommandLine::plexus_arguments() const {
    std::vector<const char*> words;
    for (const std::string& word : plexus_) words.push_back(word.c_str());
    return words;
}

Context CommandLine::start(Options more) const {
    more.set.insert(settings_.begin(), settings_.end()); // leaves what is there
    const std::vector<const char*> words = plexus_arguments();
    return Context(static_cast<int>(words.size()), words.data(), std::move(more));
}

} // namespace plexus::tools
