// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule make`: searches for a schedule, checks it and writes it, with its certificate.
#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/common/output.h"
#include "tools/common/usage.h"
#include "tools/schedule/arguments.h"
#include "tools/schedule/checker.h"
#include "tools/schedule/schedule_file.h"
#include "tools/verb.h"

#include <cstdio>
#include <fmt/format.h>
#include <stdexcept>

namespace plexus::tools::schedule {
namespace {

constexpr Seconds kUsualTime{60};

std::string certificate(const Found& found, const std::optional<TimeModel>& model) {
    const std::size_t rounds = found.result.schedule.rounds.size();
    const eco::RoundBound& bound = found.result.bound;
    std::string out = fmt::format("{} round{}, bound {} ({})", rounds, rounds == 1 ? "" : "s", bound.rounds,
                                  json::printable(bound.reason));
    if (rounds > bound.rounds) out += fmt::format("; {} above the bound", rounds - bound.rounds);
    if (model) out += fmt::format("; {:.6g} s by Equation (1)", model->time_s(found.result.schedule));
    return out;
}

std::string to_json(const Found& found, const SearchTask& task, const std::optional<TimeModel>& model) {
    json::Object out;
    out.add("rounds", found.result.schedule.rounds.size()).add("bound", found.result.bound.rounds);
    out.add("reason", found.result.bound.reason).add("optimal", found.result.optimal());
    out.add("seconds", found.took.count()).add("search", to_string(task.search)).add("seed", task.seed);
    if (model) out.add("predicted_s", model->time_s(found.result.schedule));
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
    const auto model = time_model_of(options);
    check_output(options.output);
    const Found found = search_best(task);
    const eco::SearchResult& result = found.result;
    if (result.schedule.rounds.empty()) {
        std::fprintf(stderr, "plexus schedule: no schedule was found in %.3g s; the bound is %llu (%s)\n",
                     found.took.count(), static_cast<unsigned long long>(result.bound.rounds),
                     json::printable(result.bound.reason).c_str());
        return kNo;
    }
    if (const auto broken = violation(graph, result.schedule, result.bound.rounds))
        throw std::logic_error("the search made a schedule that is none: " + *broken);
    const bool prints = options.output == "-" || (options.output.empty() && !options.json);
    if (prints || !options.output.empty())
        write_output(loadable_text({graph, result.schedule, result.bound.rounds, result.bound.reason}),
                     prints ? "-" : options.output);
    const std::string line = options.json ? to_json(found, task, model) : certificate(found, model);
    std::fprintf(prints ? stderr : stdout, "%s\n", line.c_str());
    return kOk;
}

} // namespace plexus::tools::schedule
