// SPDX-License-Identifier: BSD-3-Clause
// The notes by which tracers find the trace points of the library, as readelf reads them.
#include "support/catch.h"
#include "system/launcher/command.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace trace_points_test {

using namespace plexus::testing;

namespace {

constexpr const char* kReadelf = "/usr/bin/readelf";

/// How many arguments the points of each name have; of points of the provider `plexus`.
std::map<std::string, std::set<std::size_t>> points_in(const std::string& notes) {
    std::map<std::string, std::set<std::size_t>> points;
    std::istringstream lines(notes);
    std::string provider;
    std::string name;
    for (std::string line; std::getline(lines, line);) {
        if (const std::size_t at = line.find("Provider: "); at != line.npos)
            provider = line.substr(at + std::string_view("Provider: ").size());
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "Name:") words >> name;
        if (key != "Arguments:" || provider != "plexus") continue;
        std::size_t count = 0;
        for (std::string each; words >> each;) ++count;
        points[name].insert(count);
    }
    return points;
}

} // namespace

TEST_CASE("the library has the four trace points, with their arguments, where it was built with them") {
    if (!std::filesystem::exists(kReadelf)) SKIP_TEST("there is no readelf");
    Command readelf(OtherProgram{kReadelf}, {"--wide", "--notes", std::getenv("TESTED_LIBRARY")});
    REQUIRE(readelf.wait() == 0);
    const auto points = points_in(readelf.out());
    if (std::string(std::getenv("TESTED_TRACE_POINTS")) != "true") {
        CHECK(points.empty());
        return;
    }
    const std::map<std::string, std::set<std::size_t>> wanted{
        {"send", {3}}, {"deliver", {3}}, {"select", {3}}, {"repair", {4}}};
    CHECK(points == wanted);
}

} // namespace trace_points_test
