// SPDX-License-Identifier: BSD-3-Clause
// The file of a map is whole at any time.
#include "tools/probe/save.h"

#include "plexus/error.h"
#include "support/catch.h"
#include "support/tmpdir.h"

#include <filesystem>

namespace save_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::tools::probe;

TEST_CASE("a saved map is read back, and nothing lies beside it") {
    const TmpDir folder;
    const std::string path = (folder / "net.toml").string();
    eco::Map map({"a", "b"}, {"tcp"}, {8}, date_now());
    save(map, path);
    CHECK(eco::load_map(path) == map);
    map.set_both(0, 0, 1, {1, 2, 3, 4, 5, 6, 0});
    Saver saver(path);
    saver.maybe(map); // too soon
    CHECK_FALSE(eco::load_map(path) == map);
    saver.now(map);
    CHECK(eco::load_map(path) == map);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder / "")) ++files;
    CHECK(files == 1);
}

TEST_CASE("a map that cannot be written says why, with the system's words") {
    const TmpDir folder;
    const eco::Map map({"a"}, {}, {8}, "");
    try {
        save(map, (folder / "none" / "net.toml").string());
        FAIL("it was saved");
    } catch (const Error& error) {
        CHECK(error.status() == Status::not_found);
        CHECK(std::string(error.what()).find("No such file") != std::string::npos);
    }
}

TEST_CASE("a date is written as ISO 8601 has it") {
    const std::string date = date_now();
    CHECK(date.size() == 20);
    CHECK(date[10] == 'T');
    CHECK(date.back() == 'Z');
}

} // namespace save_test
