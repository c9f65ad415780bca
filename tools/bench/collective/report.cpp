// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/collective/report.h"

#include "tools/benchmark/report.h"
#include "tools/common/json.h"
#include "tools/common/quantity.h"
#include "tools/common/text_table.h"

namespace plexus::tools::benchmark {
std::string to_json(const CollectiveRow& row) {
    const std::string completion = json::Object()
                                       .add("mean", row.completion.mean)
                                       .add("p50", row.completion.p50)
                                       .add("min", row.completion.min)
                                       .text();
    return json::Object()
        .add("bench", "collective")
        .add("operation", eco::to_string(row.operation))
        .add("pattern", row.pattern)
        .add("size_bytes", row.size_bytes)
        .add("contexts", row.contexts)
        .add("root", row.root)
        .add("order", row.order)
        .add("clock", name_of(row.clock))
        .add("iterations", row.completion.iterations)
        .raw("completion_us", completion)
        .text();
}

void print(const std::vector<CollectiveRow>& rows) {
    TextTable table({"operation", "pattern", "size", "contexts", "order", "clock", "iterations", "mean us",
                     "p50 us", "min us"},
                    2);
    for (const CollectiveRow& row : rows)
        table.add({std::string(eco::to_string(row.operation)), row.pattern, show_size(row.size_bytes),
                   std::to_string(row.contexts), row.order ? std::to_string(*row.order) : "ranks",
                   name_of(row.clock), std::to_string(row.completion.iterations),
                   show_us(row.completion.mean), show_us(row.completion.p50), show_us(row.completion.min)});
    table.print(stdout);
}

} // namespace plexus::tools::benchmark
