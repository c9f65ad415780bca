// SPDX-License-Identifier: BSD-3-Clause
// What pages and pictures of schedules say, and that no name breaks out of them.
#include "plexus/error.h"
#include "support/catch.h"
#include "tools/schedule/show/page.h"
#include "tools/schedule/show/svg.h"
#include "tools/schedule/show/table.h"
#include "unit/schedule_show/graphs.h"

namespace picture_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::tools::drawing;

namespace {

std::size_t times(const std::string& text, const std::string& part) {
    std::size_t out = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++out;
    return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Terminal 1 passes the message of terminal 0 on.
Drawing broadcast_on_ring() {
    Drawing out;
    out.title = "OAB on ring-4";
    out.graph = eco::named_graph("ring-4");
    const auto path = [&](std::uint32_t from, std::uint32_t to) {
        return eco::shortest_paths(out.graph, from, to, 1).front();
    };
    out.schedule.kind = eco::CollectiveKind::oab;
    out.schedule.rounds = {{{0, 1, 0, path(0, 1)}, {0, 3, 0, path(0, 3)}}, {{1, 2, 0, path(1, 2)}}};
    out.bound = {1, "terminal 0 sends 1 message on 2 links"};
    return out;
}

const std::string kNasty = "</script><b onload=\"x\">&'[[data]]\x01\xff";

} // namespace

TEST_CASE("the table has a row for each source, a column for each round and whose message is passed on") {
    const std::string table = destinations_table(broadcast_on_ring());
    CHECK(times(table, "<tr>") == 1 + 4);
    CHECK(times(table, "<td>") == 4 * 2);
    CHECK(has(table, ">0</th><td>1 3</td><td></td></tr>"));
    CHECK(has(table, ">1</th><td></td><td>2&nbsp;<small>(0)</small></td></tr>"));
    CHECK(has(table, "In brackets"));
    CHECK_FALSE(has(destinations_table(scatter_on(eco::named_graph("ring-4"))), "In brackets"));
}

TEST_CASE("a table of very many rounds says how many it leaves out") {
    Drawing drawing = scatter_on(eco::named_graph("ring-2"));
    drawing.schedule.rounds.resize(kMostCells); // two rows: twice the cells there may be
    const std::string table = destinations_table(drawing);
    CHECK(has(table, "Rounds 1 to 50000 are in the table, 50000 are left out."));
    CHECK(times(table, "<td>") == kMostCells);
}

TEST_CASE("numbers of a drawing") {
    const Drawing drawing = broadcast_on_ring();
    CHECK(about_network(drawing.graph) == "4 terminals, 8 directed links, all-port");
    CHECK(about_network(eco::named_graph("star-4")) == "4 terminals, 1 switch, 8 directed links, one-port");
    CHECK(certificate(drawing) == "2 rounds, bound 1 (terminal 0 sends 1 message on 2 links)");
    CHECK(about_round(drawing, 0) == "round 1 of 2: 2 transfers on 2 of 8 links");
    CHECK(about_round(drawing, 1) == "round 2 of 2: 1 transfer on 1 of 8 links");
    CHECK(expected_messages(drawing) == std::vector<std::size_t>{0, 1, 1, 1});
    CHECK(received_messages(drawing, 0) == std::vector<std::size_t>{0, 1, 0, 1});
    CHECK(received_messages(drawing, 1) == std::vector<std::size_t>{0, 1, 1, 1});
    CHECK(about_transfer({1, 2, 1, {}}) == "1 to 2");
    CHECK(about_transfer({1, 2, 0, {}}) == "1 to 2, message of 0");
}

TEST_CASE("a page has the certificate, the first round and every round's data") {
    const std::string page = schedule_page(broadcast_on_ring());
    CHECK(page.starts_with("<!doctype html>"));
    CHECK(has(page, "<strong>2 rounds, bound 1 (terminal 0 sends 1 message on 2 links)</strong> "
                    "At most 1 more than the fewest possible."));
    CHECK(has(page, "round 1 of 2: 2 transfers"));
    CHECK(times(page, "<path class=\"way\"") == 2);
    CHECK(times(page, "class=\"terminal") == 4);
    CHECK(has(page, "terminal root\" data-terminal=\"0\""));
    CHECK(times(page, "fill-opacity=\"1.00\"") == 2);
    CHECK(has(page, "\"rounds\":[[[0,1,0,["));
    CHECK(times(page, "</script>") == 2);
    CHECK(times(page, "<option>") == 4);
    const std::string best = schedule_page(scatter_on(eco::named_graph("star-4")));
    CHECK(has(best, "No schedule has fewer rounds."));
    Drawing refuted = broadcast_on_ring();
    refuted.bound.rounds = 3;
    CHECK(has(schedule_page(refuted),
              "This valid schedule has fewer rounds than the bound: the bound is wrong;"));
}

TEST_CASE("no name, title or reason breaks out of a page or a picture") {
    Drawing drawing = broadcast_on_ring();
    drawing.graph.name.clear();
    for (std::string& each : drawing.graph.vertices) each += kNasty;
    drawing.title += kNasty;
    drawing.bound.reason += kNasty;
    for (const std::string& text : {schedule_page(drawing), schedule_svg(drawing, {})}) {
        CHECK_FALSE(has(text, "<b onload"));
        CHECK_FALSE(has(text, "\"x\""));
        CHECK_FALSE(has(text, "\x01"));
        CHECK_FALSE(has(text, "\xff"));
        CHECK(has(text, "&lt;/script&gt;"));
    }
    const std::string page = schedule_page(drawing);
    CHECK(times(page, "</script>") == 2);
    CHECK(times(page, "id=\"data\"") == 1);
    CHECK(times(page, "\"expected\":") == 1);
}

TEST_CASE("a picture has all rounds, or the first and how many it leaves out, or the one that is asked for") {
    const Drawing few = scatter_on(eco::named_graph("omega-8"));
    const std::string all = schedule_svg(few, {});
    CHECK(times(all, "<use ") == 7);
    CHECK(times(all, "class=\"round\"") == 7);
    CHECK(times(all, "<path class=\"way\"") == 7);
    CHECK_FALSE(has(all, "left out"));
    const Drawing many = scatter_on(eco::named_graph("star-64"));
    const std::string first = schedule_svg(many, {});
    CHECK(times(first, "<use ") == kMostPictures);
    CHECK(has(first, "rounds 1 to 36 are drawn, 27 left out"));
    const std::string one = schedule_svg(many, 62);
    CHECK(times(one, "<use ") == 1);
    CHECK(has(one, "round 63 of 63"));
    CHECK(has(one, "<title>0 to 63</title>"));
    CHECK_FALSE(has(one, "left out"));
    CHECK_THROWS_AS(schedule_svg(many, 63), Error);
}

TEST_CASE("a schedule without rounds, or with too many transfers for a page, is refused") {
    Drawing drawing = broadcast_on_ring();
    const eco::Round round = drawing.schedule.rounds.front();
    drawing.schedule.rounds.clear();
    CHECK_THROWS_AS(schedule_page(drawing), Error);
    CHECK_THROWS_AS(schedule_svg(drawing, {}), Error);
    drawing.schedule.rounds.assign(kMostTransfers / 2 + 1, round);
    CHECK_THROWS_AS(schedule_page(drawing), Error);
    CHECK(has(schedule_svg(drawing, 5), "round 6 of"));
}

TEST_CASE("terminals that differ by a power of two have different colours") {
    for (std::uint32_t step = 1; step <= 32; step *= 2)
        for (std::uint32_t sender = 0; sender < 32; ++sender)
            CHECK(colour_of(sender) != colour_of(sender + step));
    CHECK(colour_of(1023) < kColours);
}

} // namespace picture_test
