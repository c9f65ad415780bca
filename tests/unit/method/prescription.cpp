// SPDX-License-Identifier: BSD-3-Clause
// What a table prescribes: which rows remain, with which parameters, and that it can only be narrowed.
#include "method/prescription.h"
#include "method/selection.h"
#include "support/catch.h"

namespace prescription_test {

using namespace plexus;
using namespace plexus::method;

namespace {

DescriptorTable table_of(const std::string& prescribed) {
    DescriptorTable table;
    table.set_place({"kiel", {}});
    for (const char* name : {"shm", "libfabric:tcp", "libfabric:verbs", "tcp"})
        table.push_back({name, {}, {}});
    table.set_prescribed(prescribed);
    return table;
}

std::string rows_of(const DescriptorTable& table) { return prescription_of(prescribed_rows(table)); }

Surroundings all_but(const std::string& method) {
    return [method](const Descriptor& row) -> Applicable {
        return {row.method != method, row.method == method ? "no cable" : ""};
    };
}

} // namespace

TEST_CASE("a table that prescribes nothing has all of its rows to choose from") {
    const DescriptorTable table = table_of("");
    CHECK(prescribed_rows(table) == table);
    Choice choice = explain(table, all_but("shm"));
    const std::size_t rows = choice.trail.size();
    tell_prescription(choice, table);
    CHECK(choice.trail.size() == rows);
    CHECK(to_string(choice).find("prescribe") == std::string::npos);
}

TEST_CASE("the prescribed rows come in the prescribed order, with parameters, at the table's place") {
    const DescriptorTable rows = prescribed_rows(table_of("tcp?sndbuf=4MiB, libfabric"));
    REQUIRE(rows.size() == 3);
    CHECK(rows.place().site == "kiel");
    CHECK(rows[0].method == "tcp");
    CHECK(rows[0].parameters == Parameters{{"sndbuf", "4MiB"}});
    CHECK(rows[1].method == "libfabric:tcp");
    CHECK(rows[2].method == "libfabric:verbs");
    CHECK(prescription_of(rows) == "tcp?sndbuf=4MiB, libfabric:tcp, libfabric:verbs");
    CHECK(rows_of(table_of(prescription_of(rows))) == prescription_of(rows));
}

TEST_CASE("what is asked of prescribed rows adds parameters and narrows boundaries, never widens them") {
    const DescriptorTable table = table_of("tcp?sndbuf=4MiB&within=site, shm");
    const auto named = [&](std::string_view text) { return named_rows(parse_list(text).value(), table); };
    CHECK(prescription_of(*named("tcp?rcvbuf=1MiB")) == "tcp?rcvbuf=1MiB&sndbuf=4MiB&within=site");
    CHECK(prescription_of(*named("tcp?sndbuf=1MiB")) == "tcp?sndbuf=1MiB&within=site");
    CHECK(prescription_of(*named("tcp?within=host")) == "tcp?sndbuf=4MiB&within=host");
    CHECK(prescription_of(*named("tcp?within=site")) == "tcp?sndbuf=4MiB&within=site");
    CHECK(named("libfabric, carrier_pigeon")->empty());
    for (const char* wider : {"tcp?within=any", "tcp?within=kiel", "tcp?within=continent one"}) {
        CAPTURE(wider);
        const auto refused = named(wider);
        REQUIRE_FALSE(refused);
        CHECK(refused.status() == Status::bad_config);
    }
    CHECK(named("tcp?within=any").failure().why ==
          "the pointer prescribes tcp within \"site\", and \"any\" is more than that");
}

TEST_CASE("of a row's own boundary and the prescribed one the narrower holds") {
    const auto with_own = [](const char* own, const char* prescribed) {
        DescriptorTable table;
        table.push_back({"tcp", {}, {{"within", own}, {"sndbuf", "1KiB"}}});
        table.set_prescribed(prescribed);
        return prescription_of(prescribed_rows(table));
    };
    CHECK(with_own("host", "tcp?within=site") == "tcp?sndbuf=1KiB&within=host");
    CHECK(with_own("any", "tcp?within=site") == "tcp?sndbuf=1KiB&within=site");
    CHECK(with_own("site", "tcp?sndbuf=2KiB") == "tcp?sndbuf=2KiB&within=site");
    CHECK(with_own("kiel,oslo", "tcp?within=bergen%2Coslo") == "tcp?sndbuf=1KiB&within=oslo");
    CHECK(with_own("kiel", "tcp?within=oslo") == ""); // nothing lies within both
}

TEST_CASE("without a prescription a list's parameters are all that its rows have") {
    DescriptorTable table;
    table.push_back({"tcp", {}, {{"within", "host"}, {"sndbuf", "1KiB"}}});
    CHECK(prescription_of(*named_rows(parse_list("tcp?rcvbuf=1KiB").value(), table)) == "tcp?rcvbuf=1KiB");
}

TEST_CASE("a choice says what was prescribed, what was left out for it, and what the table lacks") {
    const DescriptorTable table = table_of("carrier_pigeon, tcp, shm");
    Choice choice = explain(prescribed_rows(table), all_but("tcp"));
    tell_prescription(choice, table);
    CHECK(to_string(choice) == "tcp: no cable; shm: applies, as the pointer prescribes (row 2); "
                               "libfabric:tcp: the pointer prescribes carrier_pigeon, tcp, shm; "
                               "libfabric:verbs: the pointer prescribes carrier_pigeon, tcp, shm; "
                               "carrier_pigeon: prescribed, but the table has no such row");
}

TEST_CASE("a prescription that is none leaves no row, and its check says what is wrong") {
    for (const char* good : {"tcp", "tcp?sndbuf=4MiB, libfabric:verbs", "tls?within=kiel%2Coslo"}) {
        CAPTURE(good);
        CHECK(check_prescription(good));
    }
    for (const char* bad : {"tcp,shm", "tcp, ", "^tcp", "tcp?", "TCP", "tcp?within=everywhere at once",
                            "tcp?within=site%2C subnet", "tcp?a", " tcp", ","}) {
        CAPTURE(bad);
        const auto checked = check_prescription(bad);
        CHECK_FALSE(checked);
        if (!checked) CHECK(checked.status() == Status::bad_config);
    }
    CHECK(prescribed_rows(table_of("tcp,,?")).empty());
    CHECK(prescribed_rows(table_of("carrier_pigeon")).empty());
}

} // namespace prescription_test
