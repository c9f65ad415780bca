// SPDX-License-Identifier: BSD-3-Clause
// The main of every test program: Catch2's, plus three rules. A case that logged an
// unexpected warning or saw a broken promise fails the program. A program whose cases
// were all skipped ends with 77, Meson's code for that. The last line counts the cases.
#define CATCH_CONFIG_RUNNER
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

// Takes our own options out; what is left is Catch2's.
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

} // namespace

const Arguments& arguments() { return writable_arguments(); }

} // namespace plexus::testing

using plexus::testing::Listener; // the macro makes a name of its argument
CATCH_REGISTER_LISTENER(Listener)

int main(int argc, char** argv) {
    using namespace plexus::testing;
    watch_log();
    std::vector<char*> left;
    if (!take_arguments(argc, argv, left)) return 2;
    const int outcome = Catch::Session().run(static_cast<int>(left.size()), left.data());
    const Tally& t = tally();
    std::printf("cases: %zu passed, %zu failed, %zu skipped\n", t.passed, t.failed, t.skipped);
    if (t.passed + t.failed + t.skipped == 0) return outcome; // a usage error, --help, --list-tests
    if (t.failed > 0) return 1;
    if (t.passed == 0) return 77;
    return 0;
}
