// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/show/table.h"

#include "tools/common/markup.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace plexus::tools::drawing {
namespace {

std::string cell_of(const std::vector<const eco::Transfer*>& transfers) {
    std::string out;
    for (const eco::Transfer* each : transfers) {
        out += out.empty() ? "" : " ";
        if (each->msg == each->src)
            out += std::to_string(each->dst);
        else
            fmt::format_to(std::back_inserter(out), "{}&nbsp;<small>({})</small>", each->dst, each->msg);
    }
    return out;
}

} // namespace

std::string destinations_table(const Drawing& drawing) {
    const std::size_t terminals = drawing.graph.terminals.size();
    const std::size_t rounds = drawing.schedule.rounds.size();
    const std::size_t shown = std::min(rounds, std::max<std::size_t>(1, kMostCells / terminals));
    std::vector<std::vector<std::vector<const eco::Transfer*>>> cells(
        terminals, std::vector<std::vector<const eco::Transfer*>>(shown));
    bool is_forwarded = false;
    for (std::size_t round = 0; round < shown; ++round)
        for (const eco::Transfer& each : drawing.schedule.rounds[round]) {
            cells[each.src][round].push_back(&each);
            is_forwarded = is_forwarded || each.msg != each.src;
        }
    std::string out =
        fmt::format("<p class=\"soft\">A row for each source, a column for each round; in the cell, "
                    "to whom it sends.{}{}</p>\n",
                    is_forwarded ? " In brackets: whose message it is, where not its own." : "",
                    shown == rounds ? ""
                                    : fmt::format(" Rounds 1 to {} are in the table, {} are left out.", shown,
                                                  rounds - shown));
    out += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"destinations\">\n"
           "<table id=\"table\" aria-labelledby=\"destinations\"><colgroup><col>";
    for (std::size_t round = 0; round < shown; ++round)
        out += round == 0 ? "<col class=\"current\">" : "<col>";
    out += "</colgroup>\n<thead><tr><th scope=\"col\">source</th>";
    for (std::size_t round = 1; round <= shown; ++round)
        fmt::format_to(std::back_inserter(out), "<th scope=\"col\"><a href=\"#round={0}\">{0}</a></th>",
                       round);
    out += "</tr></thead>\n<tbody>\n";
    for (std::size_t source = 0; source < terminals; ++source) {
        const eco::Terminal& terminal = drawing.graph.terminals[source];
        fmt::format_to(std::back_inserter(out), "<tr><th scope=\"row\" title=\"{}\">{}</th>",
                       in_xml(drawing.graph.vertices[terminal.in]), source);
        for (const std::vector<const eco::Transfer*>& each : cells[source])
            out += "<td>" + cell_of(each) + "</td>";
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>";
}

} // namespace plexus::tools::drawing
