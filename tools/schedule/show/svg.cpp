// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/show/svg.h"

#include "plexus/error.h"
#include "tools/common/markup.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace plexus::tools::drawing {
namespace {

constexpr double kLetter = 5.6;     // width, of names
constexpr double kWideLetter = 6.8; // of what is said of the whole
constexpr double kHeading = 26;     // of a round, for its name
constexpr double kTitle = 64;       // of a picture
constexpr double kGap = 18;
constexpr double kScreen = 1900; // wider pictures are scaled down to it
constexpr double kAspect = 1.5;

constexpr char kLight[] =
    "--w0: #0072b2; --w1: #c2500a; --w2: #007a5a; --w3: #a3327f; --w4: #7a6400; --w5: #5b45c4; "
    "--w6: #0a7f9c; --w7: #b3263a; --has: #9fc5de;";
constexpr char kDark[] =
    "--w0: #56b4e9; --w1: #f0954a; --w2: #35c796; --w3: #e58fc6; --w4: #d9c04a; --w5: #a99bff; "
    "--w6: #58d1e0; --w7: #ff8f97; --has: #2d5f80;";
constexpr char kNetworkStyle[] = R"(
  .network text { font: 10px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
  .network .name { fill: var(--soft); font-size: 9px; paint-order: stroke; stroke: var(--paper); stroke-width: 3px;
    stroke-linejoin: round; }
  .link { fill: none; stroke: var(--line); stroke-width: 1; }
  .switch rect { fill: var(--box); stroke: var(--soft); }
  .terminal circle { fill: var(--host); stroke: var(--soft); stroke-width: 1.3; }
  .terminal .has { fill: var(--has); stroke: none; }
  .terminal text { text-anchor: middle; }
  .terminal.root circle:first-of-type { stroke: var(--ink); stroke-width: 3; }
  .way { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
)";

/// A name that its number tells says nothing more: "p3" of terminal 3.
bool tells_more(const std::string& name, std::uint32_t number) {
    const std::string digits = std::to_string(number);
    const std::size_t letters = name.find_first_of("0123456789");
    return letters == std::string::npos || name.substr(letters) != digits;
}

/// Where a name is written, for a symbol of this shape of layout.
struct Label {
    Point place;
    const char* anchor = "middle";
    double room = 0; ///< pixels
};

Label label_of(const eco::LinkGraph& graph, const Wiring& wiring, std::uint32_t vertex) {
    const Symbol& symbol = wiring.symbols[vertex];
    const Layout& layout = wiring.layout;
    const Point& at = layout.vertices[vertex];
    const double half = symbol.width / 2;
    switch (layout.shape) {
    case Shape::stages:
        if (symbol.terminal) {
            const bool begins = graph.terminals[*symbol.terminal].in == vertex;
            return {{at.x + (begins ? -half - 4 : half + 4), at.y + 3}, begins ? "end" : "start", 34};
        }
        if (layout.room[vertex] - symbol.height < 12) return {};
        return {{at.x, at.y - symbol.height / 2 - 3}, "middle", 60};
    case Shape::levels:
        if (symbol.terminal && layout.rank[vertex] > 0 &&
            layout.vertices[vertex].y + 31 > layout.height) // a leaf of the lowest level
            return {{at.x, at.y + half + 11}, "middle", layout.room[vertex]};
        return {{at.x + half + 5, at.y + 3}, "start", symbol.free - 10};
    case Shape::grid:
        return {{at.x + half - 2, at.y + half + 8}, "start", layout.room[vertex] - 2 * half};
    case Shape::circle: {
        const double dx = at.x - layout.width / 2;
        const double dy = at.y - layout.height / 2;
        const double away = std::max(1.0, std::hypot(dx, dy));
        const bool is_side = std::abs(dx) > away / 4;
        return {{at.x + dx / away * (half + 7), at.y + dy / away * (half + 9) + 3},
                !is_side ? "middle"
                : dx > 0 ? "start"
                         : "end",
                56};
    }
    }
    return {};
}

std::string name_svg(const Drawing& drawing, const Wiring& wiring, std::uint32_t vertex) {
    const std::string& name = drawing.graph.vertices[vertex];
    const Symbol& symbol = wiring.symbols[vertex];
    if (symbol.terminal && !tells_more(name, *symbol.terminal)) return {};
    const Label label = label_of(drawing.graph, wiring, vertex);
    const auto letters = static_cast<std::size_t>(std::max(0.0, label.room / kLetter));
    if (letters < std::min<std::size_t>(name.size(), 6)) return {};
    return fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                       label.place.x, label.place.y, label.anchor,
                       in_xml(shortened(name, std::max<std::size_t>(letters, 2))));
}

/// What every round has: links and switches.
std::string base_svg(const Drawing& drawing, const Wiring& wiring) {
    std::string out = "<path class=\"link\" d=\"";
    for (const Line& line : wiring.links) out += "M" + start_of(line) + rest_of(line);
    out += "\"/>\n";
    for (std::uint32_t vertex = 0; vertex < wiring.symbols.size(); ++vertex) {
        const Symbol& symbol = wiring.symbols[vertex];
        const Point& at = wiring.layout.vertices[vertex];
        if (!symbol.terminal)
            fmt::format_to(std::back_inserter(out),
                           "<g class=\"switch\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
                           "width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\"/></g>\n",
                           in_xml(drawing.graph.vertices[vertex]), at.x - symbol.width / 2,
                           at.y - symbol.height / 2, symbol.width, symbol.height);
    }
    for (std::uint32_t vertex = 0; vertex < wiring.symbols.size(); ++vertex)
        out += name_svg(drawing, wiring, vertex);
    return out;
}

std::string terminals_svg(const Drawing& drawing, const Wiring& wiring, std::size_t round) {
    const std::vector<std::size_t> expected = expected_messages(drawing);
    const std::vector<std::size_t> received = received_messages(drawing, round);
    const eco::CollectiveKind kind = drawing.schedule.kind;
    const bool has_root = kind == eco::CollectiveKind::oab || kind == eco::CollectiveKind::oas;
    std::string out;
    for (std::uint32_t vertex = 0; vertex < wiring.symbols.size(); ++vertex) {
        const Symbol& symbol = wiring.symbols[vertex];
        if (!symbol.terminal) continue;
        const std::uint32_t number = *symbol.terminal;
        const bool accepts = drawing.graph.terminals[number].out == vertex;
        const Point& at = wiring.layout.vertices[vertex];
        const double radius = symbol.width / 2;
        fmt::format_to(std::back_inserter(out),
                       "<g class=\"terminal{}\" data-terminal=\"{}\"><title>terminal {}: {}</title>"
                       "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>",
                       has_root && drawing.schedule.root == number ? " root" : "", number, number,
                       in_xml(drawing.graph.vertices[vertex]), at.x, at.y, radius);
        if (accepts)
            fmt::format_to(
                std::back_inserter(out),
                "<circle class=\"has\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill-opacity=\"{:.2f}\"/>",
                at.x, at.y, radius - 1.5,
                expected[number] == 0
                    ? 0.0
                    : static_cast<double>(received[number]) / static_cast<double>(expected[number]));
        fmt::format_to(std::back_inserter(out), "<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text></g>\n", at.x,
                       at.y + 3.4, radius < 8 || number > 99 ? " style=\"font-size:8px\"" : "", number);
    }
    return out;
}

std::string ways_svg(const Drawing& drawing, const Wiring& wiring, std::size_t round) {
    std::string out;
    for (const eco::Transfer& each : drawing.schedule.rounds[round])
        fmt::format_to(std::back_inserter(out),
                       "<path class=\"way\" style=\"stroke:var(--w{0})\" marker-end=\"url(#tip{0})\" "
                       "data-src=\"{1}\" d=\"{2}\"><title>{3}</title></path>\n",
                       colour_of(each.src), each.src, way_of(wiring, each.path), about_transfer(each));
    return out;
}

std::string tips() {
    std::string out = "<defs>";
    for (std::size_t each = 0; each < kColours; ++each)
        out += arrow_tip(fmt::format("tip{}", each), fmt::format("--w{}", each));
    return out + "</defs>\n";
}

} // namespace

std::size_t colour_of(std::uint32_t sender) { return (sender + sender / kColours * 3) % kColours; }

std::string network_style(std::string_view element) {
    return fmt::format("{0} {{ {1} }}\n@media (prefers-color-scheme: dark) {{ {0} {{ {2} }} }}\n{3}", element,
                       kLight, kDark, kNetworkStyle);
}

std::string network_svg(const Drawing& drawing, const Wiring& wiring) {
    const Layout& layout = wiring.layout;
    return fmt::format(
               "<svg id=\"network\" class=\"network\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
               "style=\"max-width:{2:.0f}px;min-width:{3:.0f}px\" role=\"img\" aria-labelledby=\"now\">\n{4}",
               layout.width, layout.height, layout.width * 1.4, std::min(layout.width * 0.6, 900.0), tips()) +
           base_svg(drawing, wiring) + "<g id=\"ways\">\n" + ways_svg(drawing, wiring, 0) + "</g>\n" +
           terminals_svg(drawing, wiring, 0) + "</svg>";
}

std::string schedule_svg(const Drawing& drawing, std::optional<std::size_t> round) {
    const std::size_t rounds = drawing.schedule.rounds.size();
    if (round ? *round >= rounds : rounds == 0)
        throw Error(Status::bad_argument,
                    fmt::format("there is no round {}: the schedule has {}", round.value_or(0) + 1, rounds));
    const Wiring wiring = wire(drawing.graph);
    const std::size_t first = round.value_or(0);
    const std::size_t shown = round ? 1 : std::min(rounds, kMostPictures);
    const double width = wiring.layout.width + kGap;
    const double height = wiring.layout.height + kHeading + kGap;
    const double ideal = std::sqrt(static_cast<double>(shown) * kAspect * height / width);
    const auto columns = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(ideal)), 1, shown);
    const double whole_height = kTitle + height * static_cast<double>((shown + columns - 1) / columns);
    std::string about = certificate(drawing);
    if (!round && shown < rounds)
        about += fmt::format("; rounds 1 to {} are drawn, {} left out", shown, rounds - shown);
    const double whole_width =
        std::max(width * static_cast<double>(columns), 24 + kWideLetter * static_cast<double>(about.size()));
    const double scale = std::min(1.0, kScreen / whole_width);
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"network\" width=\"{8:.0f}\" height=\"{9:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>{2}</title>\n<style>{3}{4}  .paper {{ fill: var(--paper); "
        "}}\n"
        "  .network .head {{ font-size: 15px; font-weight: 600; }}\n  .network .about {{ font-size: 12px; "
        "}}\n</style>\n"
        "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{5}<defs><g id=\"base\" "
        "class=\"network\">\n{6}</g></defs>\n"
        "<text class=\"head\" x=\"12\" y=\"24\">{2}</text>\n"
        "<text class=\"about\" x=\"12\" y=\"44\">{7}</text>\n",
        whole_width, whole_height, in_xml(drawing.title), palette("svg"), network_style("svg"), tips(),
        base_svg(drawing, wiring), in_xml(about), whole_width * scale, whole_height * scale);
    for (std::size_t at = 0; at < shown; ++at)
        out += fmt::format("<g class=\"round\" transform=\"translate({:.1f} {:.1f})\">\n"
                           "<text class=\"about\" x=\"12\" y=\"16\">{}</text>\n"
                           "<g transform=\"translate(0 {:.0f})\"><use href=\"#base\"/>\n",
                           width * static_cast<double>(at % columns),
                           kTitle + height * static_cast<double>(at / columns),
                           about_round(drawing, first + at), kHeading) +
               ways_svg(drawing, wiring, first + at) + terminals_svg(drawing, wiring, first + at) +
               "</g></g>\n";
    return out + "</svg>\n";
}

} // namespace plexus::tools::drawing
