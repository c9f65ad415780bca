// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/show/page.h"

#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/common/markup.h"
#include "tools/schedule/show/svg.h"
#include "tools/schedule/show/table.h"

#include "tools/schedule/show/page_text.h"

#include <fmt/format.h>
#include <iterator>

namespace plexus::tools::drawing {
namespace {

/// A list of rounds, a round of transfers, a transfer of source, destination, message and the links' numbers.
std::string rounds_of(const eco::RoundSchedule& schedule) {
    std::string out = "[";
    for (const eco::Round& round : schedule.rounds) {
        out += out.size() > 1 ? ",[" : "[";
        for (const eco::Transfer& each : round)
            fmt::format_to(std::back_inserter(out), "{}[{},{},{},[{}]]", out.back() == '[' ? "" : ",",
                           each.src, each.dst, each.msg, fmt::join(each.path, ","));
        out += "]";
    }
    return out + "]";
}

std::string data_of(const Drawing& drawing, const Wiring& wiring) {
    std::vector<std::string> links;
    for (const Line& line : wiring.links)
        links.push_back(json::list({json::quote(start_of(line)), json::quote(rest_of(line))}));
    json::Object out;
    out.raw("links", json::list(links)).raw("rounds", rounds_of(drawing.schedule));
    std::vector<std::size_t> colours;
    for (std::uint32_t terminal = 0; terminal < drawing.graph.terminals.size(); ++terminal)
        colours.push_back(colour_of(terminal));
    out.raw("colours", fmt::format("[{}]", fmt::join(colours, ",")));
    return out.raw("expected", fmt::format("[{}]", fmt::join(expected_messages(drawing), ","))).text();
}

std::string senders(const Drawing& drawing) {
    std::string out;
    for (std::size_t terminal = 0; terminal < drawing.graph.terminals.size(); ++terminal)
        fmt::format_to(std::back_inserter(out), "<option>{}</option>", terminal);
    return out;
}

std::string judgement(const Drawing& drawing) {
    const std::size_t rounds = drawing.schedule.rounds.size();
    if (rounds == drawing.bound.rounds) return "No schedule has fewer rounds.";
    if (rounds < drawing.bound.rounds)
        return "This valid schedule has fewer rounds than the bound: the bound is wrong; please report it "
               "with this file.";
    return fmt::format("At most {} more than the fewest possible.", rounds - drawing.bound.rounds);
}

} // namespace

std::string schedule_page(const Drawing& drawing) {
    std::size_t transfers = 0;
    for (const eco::Round& round : drawing.schedule.rounds) transfers += round.size();
    if (transfers > kMostTransfers)
        throw Error(Status::too_large,
                    fmt::format("the schedule has {} transfers, and a page holds {}: --svg draws "
                                "its rounds",
                                transfers, kMostTransfers));
    if (drawing.schedule.rounds.empty()) throw Error(Status::bad_argument, "the schedule has no rounds");
    const Wiring wiring = wire(drawing.graph);
    std::string rest = kPage;
    rest = replaced(std::move(rest), "[[style]]", palette(":root") + network_style(":root") + kPageStyle);
    rest = replaced(std::move(rest), "[[script]]", kPageScript);
    // From the front, mark by mark: what is filled in is not searched again.
    std::string page;
    const auto fill = [&](std::string_view mark, std::string_view by) {
        const std::size_t at = rest.find(mark);
        page.append(rest, 0, at).append(by);
        rest.erase(0, at + mark.size());
    };
    fill("[[title]]", in_xml(drawing.title));
    fill("[[title]]", in_xml(drawing.title));
    fill("[[about]]", in_xml(about_network(drawing.graph)));
    fill("[[certificate]]", in_xml(certificate(drawing)));
    fill("[[judgement]]", judgement(drawing));
    fill("[[rounds]]", std::to_string(drawing.schedule.rounds.size()));
    fill("[[senders]]", senders(drawing));
    fill("[[now]]", about_round(drawing, 0));
    fill("[[network]]", network_svg(drawing, wiring));
    fill("[[table]]", destinations_table(drawing));
    fill("[[data]]", in_script(data_of(drawing, wiring)));
    return page + rest;
}

} // namespace plexus::tools::drawing
