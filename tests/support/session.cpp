// SPDX-License-Identifier: BSD-3-Clause
#define CATCH_CONFIG_RUNNER
#include "support/session.h"
#include "support/arguments.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::testing {
namespace {

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

struct Tally {
    std::string running;
    bool skipped_here = false;
    std::size_t unexpected_before = 0;
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;
};
Tally& tally() {
    static Tally the;
    return the;
}

class Listener : public ListenerBase {
  public:
    using ListenerBase::ListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo& info) override {
        Tally& t = tally();
        t.running = info.name;
        t.skipped_here = false;
        t.unexpected_before = unexpected_lines();
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        Tally& t = tally();
        const bool quiet = unexpected_lines() == t.unexpected_before;
        if (!quiet)
            std::printf("FAILED: \"%s\" logged what it did not expect, see above\n", t.running.c_str());
        if (!quiet || stats.totals.testCases.failed > 0) {
            ++t.failed;
            std::printf("failed case: \"%s\"\n", t.running.c_str());
        } else if (t.skipped_here) {
            ++t.skipped;
        } else {
            ++t.passed;
        }
    }
};

} // namespace

void note_skipped(std::string_view reason) {
    Tally& t = tally();
    t.skipped_here = true;
    std::printf("skipped: \"%s\": %.*s\n", t.running.c_str(), static_cast<int>(reason.size()), reason.data());
}

namespace {

Arguments& writable_arguments() {
    static Arguments the;
    return the;
}

bool keep_pair(std::map<std::string, std::string>& where, std::string_view pair) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return false;
    where[std::string(pair.substr(0, equals))] = pair.substr(equals + 1);
    return true;
}

} // namespace

bool take_arguments(int argc, char** argv, std::vector<char*>& left) {
    Arguments& ours = writable_arguments();
    for (int i = 0; i < argc; ++i) {
        const std::string_view word = argv[i];
        const bool known = word == "--module" || word == "--object" || word == "--set";
        if (!known) {
            left.push_back(argv[i]);
            continue;
        }
        const char* value = i + 1 < argc ? argv[++i] : "";
        const bool good = word == "--module"
                              ? !(ours.module = value).empty()
                              : keep_pair(word == "--set" ? ours.settings : ours.objects, value);
        if (!good) {
            std::fprintf(stderr, "%s wants %s\n", argv[i - 1], word == "--module" ? "a name" : "NAME=VALUE");
            return false;
        }
    }
    return true;
}

const Arguments& arguments() { return writable_arguments(); }

int run_cases(std::vector<char*> words) {
    const int outcome = Catch::Session().run(static_cast<int>(words.size()), words.data());
    const Tally& t = tally();
    std::printf("cases: %zu passed, %zu failed, %zu skipped\n", t.passed, t.failed, t.skipped);
    if (t.passed + t.failed + t.skipped == 0) return outcome; // a usage error, --help, --list-tests
    if (t.failed > 0) return 1;
    return t.passed == 0 ? 77 : 0;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
#if __has_include(<catch2/catch_all.hpp>)
    for (const auto& handle : Catch::getRegistryHub().getTestCaseRegistry().getAllTests())
        cases.push_back({handle.getTestCaseInfo().name, handle.getTestCaseInfo().lineInfo.file});
#else
    for (const auto& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests())
        cases.push_back({test.name, test.lineInfo.file});
#endif
    return cases;
}

} // namespace plexus::testing

using plexus::testing::Listener; // the macro makes a name of its argument
CATCH_REGISTER_LISTENER(Listener)
