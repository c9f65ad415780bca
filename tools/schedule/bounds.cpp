// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule bounds`: how many rounds every schedule has at least, and why.
#include "tools/common/json.h"
#include "tools/common/usage.h"
#include "tools/schedule/arguments.h"
#include "tools/verb.h"

#include <cstdio>
#include <fmt/format.h>
#include <iterator>

namespace plexus::tools::schedule {

int print_bounds(const Options& options) {
    std::vector<std::string> words = options.words;
    const eco::LinkGraph graph = take_graph(words, options);
    if (words.size() > 1)
        usage_error("schedule", "bounds takes a network and at most one of OAB, AAB, OAS, AAS");
    std::vector<eco::CollectiveKind> kinds(std::begin(eco::kCollectiveKinds),
                                           std::end(eco::kCollectiveKinds));
    if (!words.empty()) kinds.assign(1, collective_of(words.front()));
    const std::uint32_t root = words.empty() && !options.root.empty()
                                   ? terminal_of(graph, options.root, "root")
                                   : root_of(options, graph, kinds.front());
    const auto model = time_model_of(options);
    std::vector<std::string> rows;
    for (const eco::CollectiveKind kind : kinds) {
        const eco::RoundBound bound = eco::lower_bound(graph, kind, root);
        json::Object row;
        row.add("collective", eco::to_string(kind));
        if (has_root(kind)) row.add("root", root);
        row.add("bound", bound.rounds).add("reason", bound.reason);
        std::string predicted;
        if (model) {
            const double time_s = model->time_s({kind, root, std::vector<eco::Round>(bound.rounds)});
            row.add("predicted_s", time_s);
            predicted = fmt::format("; {:.6g} s by Equation (1)", time_s);
        }
        rows.push_back(row.text());
        if (!options.json)
            std::printf("%s%s: %llu (%s)%s\n", std::string(eco::to_string(kind)).c_str(),
                        has_root(kind) ? fmt::format(" from terminal {}", root).c_str() : "",
                        static_cast<unsigned long long>(bound.rounds), json::printable(bound.reason).c_str(),
                        predicted.c_str());
    }
    if (options.json) std::printf("{\"bounds\":%s}\n", json::list(rows).c_str());
    return kOk;
}

} // namespace plexus::tools::schedule
