// SPDX-License-Identifier: BSD-3-Clause
#include "system/top/words.h"

#include "support/catch.h"
#include "system/tools/json_text.h"

#include <cstdlib>

namespace plexus::testing {
namespace {

Words run_words(const char* program, const Words& settings) {
    Words words{"run", "-n", "2"};
    for (const std::string& each : settings) {
        words.emplace_back("--set");
        words.push_back(each);
    }
    words.emplace_back("--");
    words.emplace_back(std::getenv(program));
    return words;
}

/// The elements of a list, where no text has a bracket.
std::vector<std::string> elements(const std::string& list) {
    std::vector<std::string> all;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < list.size(); ++at) {
        if (list[at] == '{' && depth++ == 0) begin = at;
        if (list[at] == '}' && --depth == 0) all.push_back(list.substr(begin, at + 1 - begin));
    }
    return all;
}

} // namespace

RunningJob::RunningJob(const char* program, const Words& settings)
  : command_(run_words(program, settings)) {
    INFO(command_.err());
    REQUIRE(command_.says("going"));
    for (const std::string& each : contexts_in(look_json({})))
        for (const pid_t rank : command_.ranks())
            if (value_of(each, "process") == std::to_string(rank)) id_ = text_of(each, "job");
    REQUIRE_FALSE(id_.empty());
}

std::string look(Words words) {
    words.insert(words.begin(), "top");
    Command tool(words);
    CHECK(tool.wait() == 0);
    CHECK(tool.err().empty());
    return tool.out();
}

std::string look_json(const std::string& which) {
    std::string json = look(which.empty() ? Words{"--once", "--json"} : Words{"--once", "--json", which});
    CHECK(is_json(json));
    return json;
}

std::vector<std::string> contexts_in(const std::string& json) {
    return elements(value_of(json, "contexts").value_or(""));
}

std::vector<std::string> rows_in(const std::string& context, const std::string& table) {
    return elements(value_of(value_of(context, "tables").value_or(""), table).value_or(""));
}

std::string text_of(const std::string& object, const std::string& key) {
    const std::string quoted = value_of(object, key).value_or("");
    return quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2);
}

} // namespace plexus::testing
