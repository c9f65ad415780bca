// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/command_line.h"

#include "plexus/error.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace plexus::tools {

namespace {

class Layout : public CLI::Formatter {
  public:
    explicit Layout(std::string usage)
      : usage_(std::move(usage)) {}
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: plexus " + usage_ + "\n";
    }

  private:
    std::string usage_;
};

} // namespace

void usage_error(std::string_view verb, const std::string& sentence) {
    throw Error(Status::bad_argument, sentence + ": plexus " + std::string(verb) + " --help tells more");
}

CommandLine::CommandLine(std::string verb, const std::string& summary, std::string usage,
                         const std::string& footer, const CommonHelp& help)
  : verb_(std::move(verb))
  , app_(summary) {
    app_.formatter(std::make_shared<Layout>(verb_ + " " + std::move(usage)));
    app_.footer((footer.empty() ? "" : "\n" + footer + "\n") + "\n" + help.ending);
    app_.add_flag("--json", json_, "Print JSON");
    app_.add_option("--set", set_, help.set)->type_name("KEY=VALUE")->expected(1)->take_all();
}

bool CommandLine::parse(int count, char** arguments) {
    constexpr std::string_view kOurs = "--plexus-";
    plexus_.assign(1, "plexus " + verb_);
    std::vector<std::string> words;
    for (int at = 1; at < count; ++at) {
        const std::string word = arguments[at];
        const bool ours = word.starts_with(kOurs);
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
    for (const std::string& word : set_) {
        const std::size_t equals = word.find('=');
        if (equals == 0 || equals == word.npos)
            usage_error(verb_, "--set wants KEY=VALUE, like method.tcp.sndbuf=4MiB, not \"" + word + "\"");
        settings_[word.substr(0, equals)] = word.substr(equals + 1);
    }
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
