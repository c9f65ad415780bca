// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/page.h"

#include "tools/common/json.h"
#include "tools/common/markup.h"
#include "tools/common/quantity.h"
#include "tools/map/show/svg.h"

#include "tools/map/show/page_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace plexus::tools::show {
namespace {

std::string numbers(const std::vector<std::size_t>& values) {
    return fmt::format("[{}]", fmt::join(values, ","));
}

/// Four digits of a time are more than a screen shows.
std::string short_number(double value) { return std::isinf(value) ? "null" : fmt::format("{:.4g}", value); }

std::string names(const std::vector<std::string>& texts) {
    std::vector<std::string> quoted;
    for (const std::string& text : texts) quoted.push_back(json::quote(text));
    return json::list(quoted);
}

std::string costs_of(const eco::Map& map, std::size_t size) {
    const eco::CostMatrix costs = map.matrix(size, eco::Statistic::min);
    std::string out = "[";
    for (std::size_t from = 0; from < costs.size(); ++from)
        for (std::size_t to = 0; to < costs.size(); ++to)
            out += (out.size() > 1 ? "," : "") + short_number(from == to ? 0 : costs(from, to));
    return out + "]";
}

/// Messages in the order of sending: from, to, bytes, sent, taken; five numbers each.
std::string messages_of(const ShownPlan& shown) {
    std::vector<std::size_t> order(shown.plan.messages.size());
    for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return shown.flights[a].sent_us < shown.flights[b].sent_us;
    });
    std::string out = "[";
    for (const std::size_t at : order) {
        const eco::Message& message = shown.plan.messages[at];
        fmt::format_to(std::back_inserter(out), "{}{},{},{},{:.6g},{:.6g}", out.size() > 1 ? "," : "",
                       message.from, message.to, shown.plan.bytes_of(message), shown.flights[at].sent_us,
                       shown.flights[at].taken_us);
    }
    return out + "]";
}

std::string data_of(const eco::Map& map, const Layout& layout, const std::vector<eco::Partition>& levels,
                    const std::vector<ShownPlan>& plans, const std::vector<ModelWay>& ways) {
    json::Object out;
    out.raw("hosts", names(map.hosts())).raw("order", numbers(in_order(levels)));
    std::vector<std::size_t> subnet_of(map.hosts().size());
    for (std::size_t at = 0; at < levels.front().size(); ++at)
        for (const std::size_t host : levels.front()[at]) subnet_of[host] = at;
    out.raw("subnet", numbers(subnet_of));
    std::vector<std::string> sizes;
    std::vector<std::string> costs;
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size) {
        const std::uint64_t bytes = map.sizes_bytes()[size];
        sizes.push_back(json::quote(bytes == 0 ? "size not said" : show_size(bytes)));
        costs.push_back(costs_of(map, size));
    }
    out.raw("sizes", json::list(sizes)).raw("costs", json::list(costs));
    std::vector<std::string> spots;
    for (const Spot& spot : layout.hosts) spots.push_back(fmt::format("[{:.1f},{:.1f}]", spot.x, spot.y));
    out.raw("spots", json::list(spots));
    std::vector<std::string> all;
    for (const ShownPlan& shown : plans) {
        json::Object plan;
        plan.add("operation", to_string(shown.operation)).add("pattern", shown.pattern);
        if (has_root(shown.operation)) plan.add("root", shown.root);
        if (shown.operation != eco::Operation::barrier) plan.add("size", show_size(shown.size_bytes));
        plan.add("total", shown.total_us).raw("messages", messages_of(shown));
        all.push_back(plan.text());
    }
    return out.raw("plans", json::list(all)).raw("ways", to_json(ways)).text();
}

} // namespace

std::string to_page(const std::string& title, const eco::Map& map, const Layout& layout,
                    const std::vector<eco::Partition>& levels, const std::vector<ShownPlan>& plans,
                    const std::vector<ModelWay>& ways) {
    std::string about =
        fmt::format("{} host{} in {} subnet{}", map.hosts().size(), map.hosts().size() == 1 ? "" : "s",
                    levels.front().size(), levels.front().size() == 1 ? "" : "s");
    if (!map.methods().empty()) about += fmt::format(", measured by {}", fmt::join(map.methods(), ", "));
    if (!map.date().empty()) about += ", " + map.date();
    // The data last: marks inside the data are not replaced.
    std::string page = kPage;
    page = replaced(std::move(page), "[[style]]", palette(":root") + kPageStyle);
    page = replaced(std::move(page), "[[script]]", kPageScript);
    const std::size_t head = page.find("[[data]]");
    std::string front = page.substr(0, head);
    for (const char* mark : {"[[title]]", "[[title]]"})
        front = replaced(std::move(front), mark, in_xml(title));
    front = replaced(std::move(front), "[[about]]", in_xml(about));
    front = replaced(std::move(front), "[[network]]", network_svg(map, layout));
    return front + in_script(data_of(map, layout, levels, plans, ways)) + page.substr(head + 8);
}

} // namespace plexus::tools::show
