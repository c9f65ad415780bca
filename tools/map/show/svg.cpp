// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/svg.h"

#include "tools/common/markup.h"
#include "tools/common/quantity.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace plexus::tools::show {
namespace {

constexpr double kFoot = 92;             // of a picture, for the legend
constexpr double kLeastWidth = 620;      // so that the legend fits
constexpr std::size_t kMostNumbers = 60; // arrows that get one

constexpr char kPaper[] = ".paper { fill: var(--paper); }\n";

/// The common part of a page and a picture.
constexpr char kNetworkStyle[] = R"(
  .host text, text.soft { paint-order: stroke; stroke: var(--box); stroke-width: 3px; stroke-linejoin: round; }
  text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
  .soft { fill: var(--soft); }
  .box { fill: var(--box); stroke: var(--line); }
  .outer { fill: none; stroke-dasharray: 6 4; }
  .host circle { fill: var(--host); stroke: var(--soft); stroke-width: 1.5; }
  .host text { text-anchor: middle; }
  .way { fill: none; stroke: var(--near); stroke-width: 1.6; }
  .far { stroke: var(--far); stroke-width: 2.4; stroke-dasharray: 7 3; }
  .number circle { fill: var(--paper); stroke: var(--near); }
  .number.between circle { stroke: var(--far); }
  .number text { font-size: 9px; text-anchor: middle; }
  .root circle { stroke: var(--ink); stroke-width: 3; }
)";

/// Boxes, above them `ways`, and above those the texts, `numbers` last.
std::string layers(const eco::Map& map, const Layout& layout, std::optional<std::size_t> root,
                   const std::string& ways, const std::string& numbers) {
    std::string out;
    for (const Box& box : layout.boxes)
        fmt::format_to(
            std::back_inserter(out),
            "<rect class=\"box{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\"/>\n",
            box.level > 0 ? " outer" : "", box.x, box.y, box.width, box.height);
    out += ways;
    for (const Box& box : layout.boxes)
        fmt::format_to(std::back_inserter(out), "<text class=\"soft\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       box.x + 12, box.y + 15, in_xml(box.label));
    for (std::size_t host = 0; host < layout.hosts.size(); ++host) {
        const Spot& spot = layout.hosts[host];
        fmt::format_to(
            std::back_inserter(out),
            "<g class=\"host{}\" data-host=\"{}\"><title>{}</title><circle cx=\"{:.1f}\" cy=\"{:.1f}\" "
            "r=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
            root == host ? " root" : "", host, in_xml(map.hosts()[host]), spot.x, spot.y, Layout::kHostRadius,
            spot.x, spot.y + Layout::kHostRadius + 12,
            in_xml(shortened(map.hosts()[host], layout.most_letters)));
    }
    return out + numbers;
}

/// All messages from one host to another.
struct Arrow {
    std::size_t first = 0; ///< message
    std::size_t messages = 0;
    std::uint64_t bytes = 0;
    double end_us = 0;
};

std::map<std::pair<eco::Rank, eco::Rank>, Arrow> arrows_of(const ShownPlan& shown) {
    std::map<std::pair<eco::Rank, eco::Rank>, Arrow> arrows;
    for (std::size_t at = 0; at < shown.plan.messages.size(); ++at) {
        const eco::Message& message = shown.plan.messages[at];
        Arrow& arrow = arrows[{message.from, message.to}];
        if (arrow.messages == 0 || shown.flights[at].sent_us < shown.flights[arrow.first].sent_us)
            arrow.first = at;
        ++arrow.messages;
        arrow.bytes += shown.plan.bytes_of(message);
        arrow.end_us = std::max(arrow.end_us, shown.flights[at].taken_us);
    }
    return arrows;
}

/// A slight curve, so that the two directions are two lines.
struct Curve {
    Spot start, bend, end, middle;

    Curve(const Spot& from, const Spot& to) {
        const double dx = to.x - from.x;
        const double dy = to.y - from.y;
        const double length = std::max(1.0, std::hypot(dx, dy));
        bend = {(from.x + to.x) / 2 - dy * 0.14, (from.y + to.y) / 2 + dx * 0.14};
        const auto towards = [&](const Spot& spot, double distance) {
            const double x = bend.x - spot.x;
            const double y = bend.y - spot.y;
            const double whole = std::max(1.0, std::hypot(x, y));
            return Spot{spot.x + x / whole * distance, spot.y + y / whole * distance};
        };
        start = towards(from, std::min(Layout::kHostRadius + 1, length / 3));
        end = towards(to, std::min(Layout::kHostRadius + 3, length / 3));
        middle = {(start.x + 2 * bend.x + end.x) / 4, (start.y + 2 * bend.y + end.y) / 4};
    }
};

/// The lines, and their numbers.
std::pair<std::string, std::string> arrows_svg(const eco::Map& map, const Layout& layout,
                                               const eco::Partition& subnets, const ShownPlan& shown) {
    std::vector<std::size_t> subnet_of(map.hosts().size());
    for (std::size_t at = 0; at < subnets.size(); ++at)
        for (const std::size_t host : subnets[at]) subnet_of[host] = at;
    const auto arrows = arrows_of(shown);
    std::vector<std::pair<double, std::pair<eco::Rank, eco::Rank>>> order;
    for (const auto& [ends, arrow] : arrows) order.emplace_back(shown.flights[arrow.first].sent_us, ends);
    std::sort(order.begin(), order.end());
    std::string ways;
    std::string numbers;
    std::size_t number = 0;
    for (const auto& [sent, ends] : order) {
        const Arrow& arrow = arrows.at(ends);
        const Curve curve(layout.hosts[ends.first], layout.hosts[ends.second]);
        const bool between = subnet_of[ends.first] != subnet_of[ends.second];
        fmt::format_to(
            std::back_inserter(ways),
            "<path class=\"way{}\" marker-end=\"url(#{})\" d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\">"
            "<title>{} to {}: {} message{}, {}, {} to {}</title></path>\n",
            between ? " far" : "", between ? "far-tip" : "near-tip", curve.start.x, curve.start.y,
            curve.bend.x, curve.bend.y, curve.end.x, curve.end.y, in_xml(map.hosts()[ends.first]),
            in_xml(map.hosts()[ends.second]), arrow.messages, arrow.messages == 1 ? "" : "s",
            show_size(arrow.bytes), show_us(sent), show_us(arrow.end_us));
        if (order.size() > kMostNumbers) continue;
        fmt::format_to(std::back_inserter(numbers),
                       "<g class=\"number{}\"><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\"/>"
                       "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
                       between ? " between" : "", curve.middle.x, curve.middle.y, curve.middle.x,
                       curve.middle.y + 3, ++number);
    }
    return {ways, numbers};
}

} // namespace

std::string network_svg(const eco::Map& map, const Layout& layout) {
    return fmt::format("<svg id=\"network\" viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"max-width:{5:.0f}px\" "
                       "role=\"img\" "
                       "aria-label=\"the network\"><defs>{2}{3}</defs>\n{4}</svg>",
                       layout.width, layout.height, arrow_tip("near-tip", "--near"),
                       arrow_tip("far-tip", "--far"), layers(map, layout, {}, "<g id=\"ways\"></g>\n", {}),
                       std::max(layout.width, std::min(kLeastWidth, layout.width * 1.5))) +
           fmt::format("<style>{}</style>", kNetworkStyle);
}

std::string picture_svg(const eco::Map& map, const Layout& layout, const eco::Partition& subnets,
                        const ShownPlan& shown) {
    const double width = std::max(layout.width, kLeastWidth);
    const double height = layout.height + kFoot;
    const auto root = has_root(shown.operation) ? std::optional(shown.root) : std::nullopt;
    const std::string what = fmt::format(
        "{} by {}{}{}: {} messages, {} by the estimate", to_string(shown.operation), shown.pattern,
        shown.operation == eco::Operation::barrier ? "" : " of " + show_size(shown.size_bytes),
        root ? " from root " + map.hosts()[*root] : "", shown.plan.messages.size(), show_us(shown.total_us));
    std::string out =
        fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                    "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>{2}</title>\n<style>{3}{4}</style>\n"
                    "<defs>{5}{6}</defs>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
                    width, height, in_xml(what), palette("svg") + kPaper, kNetworkStyle,
                    arrow_tip("near-tip", "--near"), arrow_tip("far-tip", "--far"));
    const auto [ways, numbers] = arrows_svg(map, layout, subnets, shown);
    out += layers(map, layout, root, ways, numbers);
    const double foot = layout.height + 14;
    fmt::format_to(std::back_inserter(out),
                   "<text x=\"12\" y=\"{0:.0f}\">{1}</text>\n"
                   "<path class=\"way\" marker-end=\"url(#near-tip)\" d=\"M12 {2:.0f}H60\"/>"
                   "<text x=\"68\" y=\"{3:.0f}\">inside a subnet</text>"
                   "<path class=\"way far\" marker-end=\"url(#far-tip)\" d=\"M180 {2:.0f}H228\"/>"
                   "<text x=\"236\" y=\"{3:.0f}\">between subnets</text>\n"
                   "<text class=\"soft\" x=\"360\" y=\"{3:.0f}\">numbers: the order of sending</text>\n"
                   "<text class=\"soft\" x=\"12\" y=\"{4:.0f}\">{5}</text>\n",
                   foot, in_xml(what), foot + 24, foot + 28, foot + 54,
                   in_xml(fmt::format("costs are those of {} one way, the least measured{}",
                                      show_size(map.sizes_bytes().front()),
                                      map.date().empty() ? "" : ", " + map.date())));
    return out + "</svg>\n";
}

} // namespace plexus::tools::show
