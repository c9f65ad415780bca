// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule make`: searches for a schedule, checks it and writes it, with its certificate.
#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/common/replace_file.h"
#include "tools/common/usage.h"
#include "tools/schedule/arguments.h"
#include "tools/schedule/checker.h"
#include "tools/schedule/schedule_file.h"
#include "tools/verb.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>

namespace plexus::tools::schedule {
namespace {

constexpr Seconds kUsualTime{60};

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& file, const std::string& why) {
    throw Error(Status::not_found, fmt::format("{} cannot be written: {}", file, why));
}

/// Before a search takes its time.
void check_output(const std::string& file) {
    if (file.empty() || file == "-") return;
    std::error_code none;
    const fs::path folder = fs::path(file).parent_path();
    if (fs::is_directory(file, none)) cannot_write(file, "it is a folder");
    if (!folder.empty() && !fs::is_directory(folder, none))
        cannot_write(file, "there is no folder " + folder.string());
}

void write_stream(std::FILE* stream, const std::string& text, const std::string& name) {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
        cannot_write(name, std::strerror(errno));
}

/// A device or pipe is written to; a regular file is replaced whole.
void write_output(const std::string& text, const std::string& file) {
    std::error_code none;
    if (file == "-") {
        write_stream(stdout, text, "standard output");
    } else if (const fs::file_status there = fs::status(file, none);
               fs::exists(there) && !fs::is_regular_file(there)) {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "w"),
                                                                     std::fclose);
        if (stream == nullptr) cannot_write(file, std::strerror(errno));
        write_stream(stream.get(), text, file);
    } else {
        replace_file(file, text);
    }
}

std::string certificate(const Found& found) {
    const std::size_t rounds = found.result.schedule.rounds.size();
    const eco::RoundBound& bound = found.result.bound;
    std::string out =
        fmt::format("{} round{}, bound {} ({})", rounds, rounds == 1 ? "" : "s", bound.rounds, bound.reason);
    if (rounds > bound.rounds) out += fmt::format("; {} above the bound", rounds - bound.rounds);
    return out;
}

std::string to_json(const Found& found, const SearchTask& task) {
    json::Object out;
    out.add("rounds", found.result.schedule.rounds.size()).add("bound", found.result.bound.rounds);
    out.add("reason", found.result.bound.reason).add("optimal", found.result.optimal());
    out.add("seconds", found.took.count()).add("search", to_string(task.search)).add("seed", task.seed);
    return out.text();
}

} // namespace

int make_schedule(const Options& options) {
    std::vector<std::string> words = options.words;
    const eco::LinkGraph graph = take_graph(words, options);
    if (words.size() != 1) usage_error("schedule", "make takes a network and one of OAB, AAB, OAS and AAS");
    const eco::CollectiveKind kind = collective_of(words.front());
    const SearchTask task{graph,
                          kind,
                          root_of(options, graph, kind),
                          search_of(options.search, Search::fast),
                          seed_of(options),
                          time_of(options, kUsualTime)};
    check_output(options.output);
    const Found found = search_best(task);
    const eco::SearchResult& result = found.result;
    if (result.schedule.rounds.empty()) {
        std::fprintf(stderr, "plexus schedule: no schedule was found in %.3g s; the bound is %llu (%s)\n",
                     found.took.count(), static_cast<unsigned long long>(result.bound.rounds),
                     result.bound.reason.c_str());
        return kNo;
    }
    if (const auto broken = violation(graph, result.schedule, result.bound.rounds))
        throw std::logic_error("the search made a schedule that is none: " + *broken);
    const bool prints = options.output == "-" || (options.output.empty() && !options.json);
    if (prints || !options.output.empty())
        write_output(to_json({graph, result.schedule, result.bound.rounds, result.bound.reason}),
                     prints ? "-" : options.output);
    const std::string line = options.json ? to_json(found, task) : certificate(found);
    std::fprintf(prints ? stderr : stdout, "%s\n", line.c_str());
    return kOk;
}

} // namespace plexus::tools::schedule
