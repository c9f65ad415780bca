// SPDX-License-Identifier: BSD-3-Clause
// The promises as a program: run as a test it runs them all; `plexus check-module` starts it
// once per promise, so that a module which crashes or hangs takes only that one along. Beside
// Catch2's options and those of arguments.h:
//   --file FILE         the module under test is the one in this shared object
//   --admit             load and open it, tell its name or why not, run nothing
//   --list-promises     a line for each: its group, a tab, its sentence
//   --promise SENTENCE  run this one
// Main thread.
#include "base/log.h"
#include "loader/modules.h"
#include "support/arguments.h"
#include "support/bare_host.h"
#include "support/log_guard.h"
#include "support/session.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace plexus::testing {
namespace {

constexpr int kUsage = 2; // also: no usable module

struct Options {
    std::string file;
    std::string promise;
    bool admit = false;
    bool list = false;
};

// Takes these four out of `words`. False: a value is missing.
bool take_option(std::vector<char*>& words, Options& options) {
    std::vector<char*> left;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        std::string* value = word == "--file"      ? &options.file
                             : word == "--promise" ? &options.promise
                                                   : nullptr;
        if (value != nullptr) {
            if (++i == words.size()) return false;
            *value = words[i];
        } else if (word == "--admit") {
            options.admit = true;
        } else if (word == "--list-promises") {
            options.list = true;
        } else {
            left.push_back(words[i]);
        }
    }
    words = std::move(left);
    return true;
}

int refuse(std::string_view why) {
    std::printf("refused: %.*s\n", static_cast<int>(why.size()), why.data());
    return kUsage;
}

// Its name, and as its parameters what --set may name.
Result<loader::Module> look_into(const std::string& file) {
    loader::Modules modules;
    const auto module = modules.load(file, true);
    if (!module) return module.failure();
    return **module;
}

std::optional<std::string> unknown_key(const loader::Module& module) {
    for (const auto& [key, value] : arguments().settings) {
        if (key.find('.') != std::string::npos) continue; // of a module under this one
        std::string keys;
        bool known = false;
        for (const plexus_parameter& parameter : module.parameters) {
            known = known || key == parameter.key;
            keys += fmt::format("{}{}", keys.empty() ? "" : ", ", parameter.key);
        }
        if (!known)
            return fmt::format("{} has no parameter \"{}\"; it has {}", module.name, key,
                               keys.empty() ? "none" : keys);
    }
    return std::nullopt;
}

// Opens and ends the module once, as every promise will.
int admit(const loader::Module& module) {
    if (const auto wrong = unknown_key(module)) return refuse(*wrong);
    try {
        BareHost host(method_under_test());
    } catch (const OpenFailed& failed) {
        std::string why;
        for (const std::string& line : failed.log) // the level goes, the text stays
            why += (why.empty() ? "" : "; ") + line.substr(line.find(": ") + 2);
        return refuse(fmt::format("method {} could not be opened ({}): {}", module.name,
                                  to_string(static_cast<Status>(failed.status)),
                                  why.empty() ? "it does not say why" : why));
    }
    std::printf("module: %s\n", module.name.c_str());
    return 0;
}

int list() {
    for (const Case& each : all_cases())
        std::printf("%s\t%s\n", std::filesystem::path(each.file).stem().c_str(), each.name.c_str());
    return 0;
}

// A sentence as Catch2 takes one name: what its pattern language would read is escaped.
std::string pattern_of(std::string_view sentence) {
    std::string pattern;
    for (const char c : sentence) {
        if (std::string_view("\\,[]\"*~").find(c) != std::string_view::npos) pattern += '\\';
        pattern += c;
    }
    return pattern;
}

int run(std::vector<char*> words) {
    std::vector<char*> ours;
    Options options;
    if (!take_option(words, options)) {
        std::fputs("--file and --promise want a value\n", stderr);
        return kUsage;
    }
    std::vector<std::string> more;
    std::optional<loader::Module> module;
    if (!options.file.empty()) {
        auto found = look_into(options.file);
        if (!found) return refuse(found.failure().why);
        module = std::move(*found);
        more = {"--module", module->name, "--object", module->name + "=" + options.file};
    }
    std::vector<std::string> asked;
    if (!options.promise.empty()) asked = {pattern_of(options.promise), "--reporter", "compact"};
    for (std::string& word : more) words.push_back(word.data());
    for (std::string& word : asked) words.push_back(word.data());

    if (!take_arguments(static_cast<int>(words.size()), words.data(), ours)) return kUsage;
    if (options.list) return list();
    if (!options.admit) return run_cases(std::move(ours));
    return module ? admit(*module) : refuse("--admit wants --file");
}

} // namespace
} // namespace plexus::testing

int main(int argc, char** argv) {
    plexus::testing::watch_log();
    return plexus::testing::run({argv, argv + argc});
}
