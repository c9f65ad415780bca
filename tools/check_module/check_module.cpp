// SPDX-License-Identifier: BSD-3-Clause
// `plexus check-module`: whether a module keeps the promises of the module contract. A helper program
// (tests/conformance) has the promises. It is started once for each promise, so that a crash or a
// hang is a verdict on that promise and not the end of the check.
#include "tools/check_module/verdict.h"
#include "tools/common/command_line.h"
#include "tools/common/json.h"
#include "tools/common/trial.h"
#include "tools/verb.h"

#include "plexus/error.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace plexus::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kUnusable = 2; ///< in the place of kUsage: the file is no usable module
constexpr std::size_t kMostEvidence = 8;

constexpr CommonHelp kHelp{
    "A parameter of the module, \"tcp.port=0\" one of a module under it; may be repeated",
    "Exit codes: 0 every promise holds or was skipped, 1 some are broken, 2 the file is no usable\n"
    "module or the command line is wrong, 3 environment.",
    false};

struct CheckOptions {
    std::string file;
    std::string only;
    double seconds = 150;
    bool verbose = false;

    std::chrono::milliseconds limit() const {
        return std::chrono::milliseconds(static_cast<long>(seconds * 1000));
    }
};

/// The helper program: in the build folder, or installed at a fixed place relative to this program.
std::string helper() {
    constexpr const char* kName = "check-module-promises";
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    const fs::path built = here.parent_path();
    const fs::path file =
        fs::is_directory(built / "meson-private")
            ? built / "tests" / "conformance" / kName
            : (here / fs::path(PLEXUS_LIBDIR).lexically_relative(PLEXUS_BINDIR) / "plexus" / kName)
                  .lexically_normal();
    std::error_code error;
    if (!fs::exists(file, error))
        throw Error(Status::not_found,
                    fmt::format("the promises are not here ({}): this Plexus was built without its tests. "
                                "Build it with -Dtests=true, which needs Catch2",
                                file.string()));
    return file.string();
}

class Check {
  public:
    Check(const CommandLine& line, const CheckOptions& options)
      : line_(line)
      , options_(options)
      , helper_(helper()) {}

    int run() {
        std::string why;
        const auto name = admitted(run_trial(words({"--admit"}), options_.limit()), options_.limit(), why);
        if (!name) return refuse(why);
        name_ = *name;
        std::vector<Promise> promises =
            promises_in(run_trial({helper_, "--list-promises"}, options_.limit()).output);
        if (promises.empty()) throw Error(Status::not_found, helper_ + " lists no promises");
        std::erase_if(promises, [&](const Promise& each) {
            return each.sentence.find(options_.only) == std::string::npos && each.group != options_.only;
        });
        if (promises.empty()) usage_error("check-module", "no promise contains \"" + options_.only + "\"");
        if (!line_.json()) {
            std::printf("%s: method %s\n", options_.file.c_str(), name_.c_str());
            std::fflush(stdout);
        }
        for (const Promise& each : promises) judge(each);
        report(promises.size());
        return count(Kept::no) == 0 ? kOk : kNo;
    }

  private:
    std::vector<std::string> words(std::vector<std::string> last) const {
        std::vector<std::string> all{helper_, "--file", options_.file};
        for (const auto& [key, value] : line_.settings()) {
            all.emplace_back("--set");
            all.push_back(key + "=" + value);
        }
        all.insert(all.end(), last.begin(), last.end());
        return all;
    }

    int refuse(const std::string& why) const {
        if (line_.json()) {
            const auto out =
                json::Object().add("file", options_.file).add("usable", false).add("because", why);
            std::printf("%s\n", out.text().c_str());
        } else {
            std::fprintf(stderr, "plexus check-module: no usable module: %s\n", why.c_str());
        }
        return kUnusable;
    }

    void judge(const Promise& promise) {
        const Ending ending = run_trial(words({"--promise", promise.sentence}), options_.limit());
        const Outcome outcome = outcome_of(ending, options_.limit());
        ++counts_[static_cast<std::size_t>(outcome.kept)];
        if (line_.json()) {
            note(promise, outcome, ending);
        } else {
            print(promise, outcome);
        }
    }

    void print(const Promise& promise, const Outcome& outcome) {
        constexpr const char* kWords[] = {"holds", "BROKEN", "skipped"};
        if (promise.group != group_) std::printf("\n%s\n", promise.group.c_str());
        group_ = promise.group;
        std::printf("  %-8s %s\n", kWords[static_cast<std::size_t>(outcome.kept)], promise.sentence.c_str());
        const std::size_t most = options_.verbose ? outcome.because.size() : kMostEvidence;
        for (std::size_t i = 0; i < outcome.because.size() && i < most; ++i)
            std::printf("           %s\n", outcome.because[i].c_str());
        if (outcome.because.size() > most)
            std::printf("           and %zu lines more: see --verbose\n", outcome.because.size() - most);
        std::fflush(stdout); // the next one may take a while
    }

    void note(const Promise& promise, const Outcome& outcome, const Ending& ending) {
        constexpr const char* kWords[] = {"holds", "broken", "skipped"};
        std::vector<std::string> because;
        for (const std::string& each : outcome.because) because.push_back(json::quote(each));
        rows_.push_back(json::Object()
                            .add("group", promise.group)
                            .add("promise", promise.sentence)
                            .add("verdict", kWords[static_cast<std::size_t>(outcome.kept)])
                            .raw("because", json::list(because))
                            .add("seconds", static_cast<double>(ending.took.count()) / 1000)
                            .text());
    }

    void report(std::size_t all) const {
        if (line_.json()) {
            json::Object out;
            out.add("file", options_.file).add("usable", true).add("method", name_);
            out.raw("promises", json::list(rows_)).add("holds", count(Kept::yes));
            out.add("broken", count(Kept::no)).add("skipped", count(Kept::skipped));
            std::printf("%s\n", out.text().c_str());
        } else {
            std::printf("\n%zu of %zu promises hold; skipped: %zu, broken: %zu\n", count(Kept::yes), all,
                        count(Kept::skipped), count(Kept::no));
        }
    }

    std::size_t count(Kept kept) const { return counts_[static_cast<std::size_t>(kept)]; }

    const CommandLine& line_;
    const CheckOptions& options_;
    const std::string helper_;
    std::string name_;
    std::string group_; ///< the last one that was printed
    std::array<std::size_t, 3> counts_{};
    std::vector<std::string> rows_;
};

} // namespace

int check_module(int count, char** arguments) {
    CommandLine line(
        "check-module",
        "Says which promises of the module contract a module keeps. Each runs in a process of its "
        "own: a crash or a hang is a verdict too.",
        "FILE.so [--set KEY=VALUE]... [OPTIONS]", {}, kHelp);
    CheckOptions options;
    line.app().add_option("file", options.file, "The module: a shared object")->type_name("FILE");
    line.app()
        .add_option("--only", options.only, "Only the promises that contain TEXT, or the group of that name")
        ->type_name("TEXT");
    line.app()
        .add_option("--timeout", options.seconds, "How long one promise may take")
        ->check(CLI::Range(0.1, 86'400.0))
        ->type_name("SECONDS")
        ->capture_default_str();
    line.app().add_flag("--verbose", options.verbose, "Print all that was seen of a broken promise");
    if (!line.parse(count, arguments)) return kOk;
    if (options.file.empty()) usage_error("check-module", "say which file to check");
    return Check(line, options).run();
}

} // namespace plexus::tools
