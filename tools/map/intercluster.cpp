// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/json.h"
#include "tools/common/text_table.h"
#include "tools/map/models.h"

#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools {

std::string to_json(const eco::InterclusterSchedule& schedule) {
    std::vector<std::string> sends;
    for (const auto& [from, to] : schedule.sends) sends.push_back(fmt::format("[{},{}]", from, to));
    json::Object out;
    out.raw("after", json::exact(schedule.after_s)).raw("overlap", json::exact(schedule.overlap_s));
    return out.raw("sends", json::list(sends)).text();
}

void print(const std::vector<eco::InterclusterSchedule>& schedules) {
    TextTable table({"schedule", "after s", "overlap s", "sends"});
    for (const eco::InterclusterSchedule& each : schedules) {
        std::string sends;
        for (const auto& [from, to] : each.sends)
            sends += fmt::format("{}{}>{}", sends.empty() ? "" : " ", from, to);
        table.add({std::string(to_string(*each.rule)), fmt::format("{:.6g}", each.after_s),
                   fmt::format("{:.6g}", each.overlap_s), sends});
    }
    table.print(stdout);
}

int print_intercluster(const InterclusterOptions& options) {
    const auto schedules = eco::schedules(load_instance(options.file), options.completion);
    const std::string chosen(to_string(*eco::earliest(schedules, options.completion).rule));
    if (options.json) {
        json::Object all;
        for (const eco::InterclusterSchedule& each : schedules) all.raw(to_string(*each.rule), to_json(each));
        json::Object out;
        out.raw("schedules", all.text()).add("chosen", chosen);
        std::printf("%s\n", out.text().c_str());
        return 0;
    }
    print(schedules);
    std::printf("chosen: %s\n", chosen.c_str());
    return 0;
}

} // namespace plexus::tools
