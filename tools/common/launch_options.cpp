// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/launch_options.h"

#include "plexus/error.h"

#include <cstdlib>

namespace plexus::tools {
namespace {

[[noreturn]] void refuse(const std::string& sentence, const char* verb) {
    throw Error(Status::bad_argument, sentence + ": plexus " + verb + " --help tells more");
}

std::pair<std::string, std::string> name_and_value(const std::string& text, const char* option,
                                                   const char* example, const char* verb) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
        refuse(std::string(option) + " wants " + example + ", not \"" + text + "\"", verb);
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
            refuse("-x " + word + ": there is no such variable here, so give it a value with -x " + word +
                       "=VALUE",
                   verb);
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

} // namespace plexus::tools
