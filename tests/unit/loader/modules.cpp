// SPDX-License-Identifier: BSD-3-Clause
// Real files: shared objects that are sound, nearly sound, and something else entirely.
#include "loader/modules.h"

#include "fixtures.h"
#include "sample.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/tmpdir.h"

#include <algorithm>

using namespace plexus;
using namespace plexus::loader;
using plexus::testing::expect_warning;
using plexus::testing::kBuiltModules;
using plexus::testing::kFixtures;
using plexus::testing::Sample;
using plexus::testing::TmpDir;

namespace fs = std::filesystem;

namespace {

fs::path fixture(std::string_view name) {
    return fs::path(kFixtures) / ("plexus_" + std::string(name) + ".so");
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Why the file is refused; it is remembered with the same words.
std::string refusal(const fs::path& file) {
    Modules modules;
    const auto loaded = modules.load(file);
    if (loaded) return "accepted";
    CHECK(loaded.status() == Status::bad_module);
    CHECK(modules.all().empty());
    REQUIRE(modules.refused().size() == 1);
    CHECK(modules.refused()[0].file == file.string());
    CHECK(modules.refused()[0].why == loaded.failure().why);
    CHECK(mentions(loaded.failure().why, file.string()));
    return loaded.failure().why;
}

} // namespace

TEST_CASE("a sound shared object is a module, and none of its functions has been called") {
    Modules modules;
    const Module* module = modules.load(fixture("sound")).value();
    CHECK(module->name == "sound");
    CHECK(module->origin == fixture("sound").string());
    CHECK(module->parameters.size() == 1);
    CHECK(modules.find("sound") == module);
    CHECK(modules.all() == std::vector<const Module*>{module});
    CHECK_FALSE(modules.find("soun"));
    CHECK(modules.refused().empty());
}

TEST_CASE("what is not there, not a file, or not a shared object is refused with the system's text") {
    TmpDir dir;
    CHECK(mentions(refusal(dir / "plexus_x.so"), "No such file"));
    fs::create_directory(dir / "plexus_y.so");
    CHECK(mentions(refusal(dir / "plexus_y.so"), "not a file"));
    CHECK(mentions(refusal(dir.file("plexus_text.so", std::string(1000, 'x'))), "invalid ELF header"));
    CHECK(mentions(refusal(dir.file("plexus_empty.so", "")), "file too short"));
    CHECK(mentions(refusal(fixture("unresolved")), "plexus_fixture_nowhere"));
}

TEST_CASE("a shared object that is no module of this ABI is refused by its passport") {
    CHECK(mentions(refusal(fixture("no_passport")), "without a passport"));
    CHECK(mentions(refusal(fixture("short_passport")), "its passport has 8 bytes"));
    CHECK(mentions(refusal(fixture("wrong_magic")), "magic number"));
    CHECK(mentions(refusal(fixture("wrong_major")), "built for ABI 99.1, this library has 2.1"));
    CHECK(mentions(refusal(fixture("newer_minor")), "newer ABI 2.99"));
    CHECK(mentions(refusal(fixture("no_send")), "lacks send"));
    CHECK(mentions(refusal(fixture("no_sleep")), "can sleep on it, but lacks arm"));
}

TEST_CASE("a file cut off anywhere is refused, and the process lives") {
    TmpDir dir;
    std::ifstream whole(fixture("sound"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
    REQUIRE(bytes.size() > 1024);
    for (const std::size_t size : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{200}})
        CHECK(refusal(dir.file("plexus_cut" + std::to_string(size) + ".so",
                               std::string_view(bytes).substr(0, size))) != "accepted");
}

TEST_CASE("the first module of a name wins, unless it is to be replaced") {
    Modules modules;
    const Module* first = modules.load(fixture("sound")).value();
    const auto second = modules.load(fixture("again"));
    REQUIRE_FALSE(second);
    CHECK(mentions(second.failure().why,
                   "there is a method sound already (" + fixture("sound").string() + ")"));
    CHECK(modules.find("sound") == first);

    const Module* replaced = modules.load(fixture("again"), true).value();
    CHECK(modules.find("sound") == replaced);
    CHECK(modules.all().size() == 1);
    CHECK(modules.refused().empty());
    CHECK(first->name == "sound"); // whoever holds the old one may still look at it
}

TEST_CASE("the same file twice is the same module") {
    Modules modules;
    const Module* first = modules.load(fixture("sound")).value();
    CHECK(modules.load(fixture("sound")).value() == first);
    CHECK(modules.load(fixture("sound"), true).value() == first);
}

TEST_CASE("a file that is refused again is remembered once") {
    Modules modules;
    CHECK_FALSE(modules.load(fixture("wrong_magic")));
    CHECK_FALSE(modules.load(fixture("wrong_magic")));
    CHECK(modules.refused().size() == 1);
}

TEST_CASE("a built-in module wins over a file, and a bad one is refused with a warning") {
    Sample sample;
    sample.passport.name = "sound";
    Modules modules;
    modules.add(&sample.passport);
    REQUIRE(modules.find("sound"));
    CHECK(modules.find("sound")->origin == "built in");
    CHECK_FALSE(modules.load(fixture("sound")));

    const auto warning = expect_warning("built in is refused");
    sample.passport.name = "Bad";
    modules.add(&sample.passport);
    CHECK(warning.count() == 1);
}

TEST_CASE("a folder gives its modules in the order of their names, and a warning for each bad one") {
    TmpDir dir;
    for (const char* name : {"sound", "second", "again"})
        fs::copy(fixture(name), dir / fixture(name).filename().string());
    dir.file("plexus_text.so", "x");
    dir.file("plexus_.so", "x");
    dir.file("libother.so", "x");
    dir.file("plexus_notes.txt", "x");
    Modules modules;
    const auto warning = expect_warning("is refused");
    modules.find_in(dir.path());
    // "again" comes first and has taken the name "sound".
    REQUIRE(modules.all().size() == 2);
    CHECK(modules.all()[0]->origin == (dir / "plexus_again.so").string());
    CHECK(modules.all()[1]->name == "second");
    CHECK(modules.refused().size() == 2);
    CHECK(warning.count() == 2);
}

TEST_CASE("a folder's file is not even opened when its name is there") {
    TmpDir dir;
    dir.file("plexus_sample.so", "x");
    Sample sample;
    Modules modules;
    modules.add(&sample.passport);
    modules.find_in(dir.path());
    CHECK(modules.refused().empty());
    CHECK(modules.all().size() == 1);
}

TEST_CASE("a module that its user refuses is gone, and remembered with the reason") {
    Modules modules;
    REQUIRE(modules.load(fixture("sound")));
    modules.refuse("sound", "its parameter is odd");
    CHECK(modules.find("sound") == nullptr);
    CHECK(modules.all().empty());
    REQUIRE(modules.refused().size() == 1);
    CHECK(modules.refused()[0].why == "its parameter is odd");
    modules.refuse("nobody", "");
    CHECK(modules.refused().size() == 1);
}

TEST_CASE(
    "a module that is refused leaves its place to the one that it replaced, however often it is tried") {
    Sample sample;
    Modules modules;
    modules.add(&sample.passport);
    const Module* const before = modules.find("sample");
    REQUIRE(before != nullptr);
    plexus_passport other = sample.passport;
    const Module* last = nullptr;
    for (int i = 0; i < 3; ++i) {
        const auto taken = modules.take(&other, "another");
        REQUIRE(taken);
        CHECK(*taken != before);
        CHECK((last == nullptr || *taken == last)); // nothing grows
        last = *taken;
        CHECK(modules.find("sample") == *taken);
        modules.refuse("sample", "a parameter is odd", before);
        CHECK(modules.find("sample") == before);
        REQUIRE(modules.refused().size() == 1);
        CHECK(modules.refused()[0].file == "another");
    }
    modules.refuse("sample", "it is not that either", before);
    CHECK(modules.find("sample") == before); // it was there all the time
}

TEST_CASE("a folder that is not there is no error, one that can't be searched is a warning") {
    TmpDir dir;
    Modules modules;
    modules.find_in(dir / "nothing");
    const auto warning = expect_warning("can't search");
    modules.find_in(dir.file("file", ""));
    CHECK(warning.count() == 1);
    CHECK(modules.all().empty());
}

TEST_CASE("every built-in module passes the checks of a loaded one") {
    Modules modules;
    for (const plexus_passport* passport : builtin_passports()) modules.add(passport);
    CHECK(modules.all().size() == builtin_passports().size());
    CHECK(modules.refused().empty());
}

TEST_CASE("from the build folder the modules of the build are found") {
    const auto path = default_module_path();
    REQUIRE(path.size() == 1);
    CHECK(fs::equivalent(path[0], kBuiltModules));
}

TEST_CASE("modules can be handed on with all they hold") {
    Modules modules;
    const Module* module = modules.load(fixture("sound")).value();
    Modules other = std::move(modules);
    CHECK(other.find("sound") == module);
}
