// SPDX-License-Identifier: BSD-3-Clause
// Types of a program's own between two contexts: plain structs as arguments and results, what
// differs between two programs, and a struct that has grown a field.
#include "contexts.h"

#include <span>
#include <string>
#include <vector>

namespace types_test {

using namespace plexus;
using namespace plexus::testing;

struct Station {};

struct Sample {
    double value;
    std::uint32_t station;
    bool operator==(const Sample&) const = default;
};
struct Report {
    std::string name;
    std::vector<Sample> samples;
    bool operator==(const Report&) const = default;
};
PLEXUS_FIELDS(Report, name, samples)

constexpr Request<Sample(Station&, Sample, std::span<const Sample>, std::vector<Sample>)> sum{"types.sum"};
constexpr Request<Report(Station&, Report)> relay{"types.relay"};

namespace old_program {
struct Reading {
    std::int32_t x, y;
};
PLEXUS_FIELDS(Reading, x, y)
constexpr Request<std::int32_t(Station&, Reading)> probe{"types.probe"};
} // namespace old_program
namespace turned_program {
struct Reading {
    std::int32_t y, x;
};
PLEXUS_FIELDS(Reading, y, x)
constexpr Request<std::int32_t(Station&, Reading)> probe{"types.probe"};
} // namespace turned_program
namespace grown_program {
struct Reading {
    std::int32_t x, y, z;
};
PLEXUS_FIELDS(Reading, x, y, z)
constexpr Request<std::int32_t(Station&, Reading)> probe{"types.probe"};
constexpr Request<std::int32_t(Station&, Reading)> probe_2{"types.probe/2"};
} // namespace grown_program

struct Two {
    explicit Two(const std::string& method)
      : owner(by(method))
      , user(by(method)) {
        owner.on(sum, [](Station&, Sample one, std::span<const Sample> view, const std::vector<Sample>& all) {
            for (const Sample& each : view) one.value += each.value;
            for (const Sample& each : all) one.station += each.station;
            return one;
        });
        owner.on(relay, [](Station&, Report report) {
            report.name += "!";
            return report;
        });
        owner.on(old_program::probe, [](Station&, old_program::Reading it) { return it.x - it.y; });
        bound = owner.bind(station);
        far = handed(user, bound.pointer());
    }
    Station station;
    Context owner;
    Context user;
    Bound<Station> bound;
    GlobalPointer<Station> far;
};

TEST_CASE("plain structs and listed fields are arguments and results") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    const std::vector<Sample> many(5000, Sample{0.5, 2});
    CHECK(within(two.far.call(sum, Sample{1, 3}, many, many)) == Sample{2501, 10'003});
    CHECK(within(two.far.call(sum, Sample{1, 3}, std::span<const Sample>{}, std::vector<Sample>{})) ==
          Sample{1, 3});
    CHECK(within(two.far.call(relay, Report{"north", {{1, 2}, {3, 4}}})) ==
          Report{"north!", {{1, 2}, {3, 4}}});
}

TEST_CASE("a struct whose fields are in another order is refused, with both declarations") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    CHECK(within(two.far.call(old_program::probe, {7, 2})) == 5);
    const Refusal turned = refusal_of(two.far.call(turned_program::probe, {7, 2}));
    CHECK(turned.status == Status::bad_signature);
    CAPTURE(turned.why);
    CHECK(turned.says("is declared as i32(struct(8,4){x:i32,y:i32}) in context"));
    CHECK(turned.says("here it is i32(struct(8,4){y:i32,x:i32})"));
    CHECK(turned.says("argument 1 is struct(8,4){x:i32,y:i32} there"));
    Complaints complaints;
    complaints.listen_to(two.user);
    const auto owners_word = expect_warning("was not carried out (signature differs)");
    two.far.send(turned_program::probe, {7, 2});
    const Refusal told = complaints.next();
    CHECK(told.status == Status::bad_signature);
    CHECK(told.says("here it is i32(struct(8,4){y:i32,x:i32}): argument 1 is "));
    CHECK(owners_word.count() == 1); // already: the owner logs it before it tells the sender
    two.user.on_error(nullptr);
}

TEST_CASE(
    "a struct that has grown is refused under its old name, and served beside the old one under a new") {
    Two two("tcp");
    CHECK(refusal_of(two.far.call(grown_program::probe, {7, 2, 1})).status == Status::bad_signature);
    CHECK(refusal_of(two.far.call(grown_program::probe_2, {7, 2, 1})).status == Status::no_handler);
    two.owner.on(grown_program::probe_2,
                 [](Station&, grown_program::Reading it) { return it.x - it.y - it.z; });
    CHECK(within(two.far.call(grown_program::probe_2, {7, 2, 1})) == 4);
    CHECK(within(two.far.call(old_program::probe, {7, 2})) == 5);
}

} // namespace types_test
