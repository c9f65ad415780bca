// SPDX-License-Identifier: BSD-3-Clause
// `plexus check-module` with files that are no usable modules: the answer is 2 and one sentence
// that says why, whatever the file does to the process that looks at it.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/check_module/files.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <filesystem>

namespace bad_files_test {

using namespace plexus::testing;

namespace {

void check_refused(const Words& words, const std::string& part) {
    Words all{"check-module"};
    all.insert(all.end(), words.begin(), words.end());
    Command tool(all);
    INFO(words.front());
    CHECK(tool.wait() == 2);
    INFO(tool.err());
    CHECK(tool.err().starts_with("plexus check-module: no usable module: "));
    CHECK(tool.err().find(part) != std::string::npos);
    CHECK(count_of(tool.err(), "\n") == 1);
    CHECK(tool.out().empty());
    CHECK(tool.left_nothing());
}

} // namespace

TEST_CASE("what is no shared object, or cannot be loaded, is refused with the system's text") {
    const TmpDir folder;
    check_refused({(folder / "plexus_none.so").string()}, "No such file");
    check_refused({folder.path().string()}, "it is not a file");
    check_refused({folder.file("plexus_text.so", std::string(1000, 'x')).string()}, "invalid ELF header");
    check_refused({nearly("unresolved")}, "undefined symbol: plexus_fixture_nowhere");
    check_refused({faulty("needs_gone")}, "libplexus_test_nowhere.so: cannot open shared object file");
}

TEST_CASE("a shared object that is no module of this ABI is refused by its passport") {
    check_refused({nearly("no_passport")}, "a library without a passport (plexus_passport)");
    check_refused({nearly("wrong_magic")}, "magic number");
    check_refused({nearly("wrong_major")}, "built for ABI 99.1, this library has 2.1");
    check_refused({nearly("newer_minor")}, "newer ABI 2.99");
}

TEST_CASE("a module whose table lies about its abilities is refused with the slot's name") {
    check_refused({nearly("no_send")}, "lacks send, which every module must have");
    check_refused({nearly("no_sleep")}, "claims that one can sleep on it, but lacks arm");
}

TEST_CASE("a module that will not open is refused with its own words") {
    check_refused({faulty("will_not_open")},
                  "method faulty could not be opened (bad configuration): the moon is in the wrong house");
    check_refused({faulty("none"), "--set", "queue=much"}, "queue = \"much\" is not");
    check_refused({faulty("none"), "--set", "que=1"}, "no parameter \"que\"; it has queue, eager");
}

TEST_CASE("a module in two parts is refused where the second is missing or of another version") {
    const TmpDir folder;
    const std::string stub = (folder / "plexus_in_two.so").string();
    std::filesystem::copy_file(faulty("in_two"), stub);
    check_refused({stub}, "its second part can't be loaded");
    const auto with_impl = [&](const std::string& which) {
        std::filesystem::copy_file(faulty("impl_" + which), folder / "impl_in_two.so",
                                   std::filesystem::copy_options::overwrite_existing);
    };
    for (const auto& [which, part] :
         {std::pair{"nothing", "impl_in_two.so, is no part of a module: install both parts"},
          std::pair{"bare_pointer", "is of another version of Plexus"},
          std::pair{"older_abi", "was built for ABI 1.1, this part for 2.1"},
          std::pair{"shorter_table", "has a function table of "},
          std::pair{"other_abilities", "claims other abilities than this part: install both parts"},
          std::pair{"hole", " in its function table: install both parts"}}) {
        with_impl(which);
        check_refused({stub}, part);
    }
    with_impl("right");
    Command tool({"check-module", stub, "--only", "identity"});
    CHECK(tool.wait(60s * kPatience) == 0);
}

TEST_CASE("a module that takes its process along is refused, and the tool lives") {
    check_refused({faulty("crashes_on_load")}, "ended by signal 11 (Segmentation fault)");
    check_refused({faulty("crashes_in_open")}, "ended by signal 11 (Segmentation fault)");
    check_refused({faulty("exits_in_open")}, "ended the process, with exit code 0");
}

TEST_CASE("in JSON a refusal is an object with the reason") {
    Command tool({"check-module", nearly("wrong_magic"), "--json"});
    CHECK(tool.wait() == 2);
    REQUIRE(is_json(tool.out()));
    CHECK(value_of(tool.out(), "usable") == "false");
    CHECK(value_of(tool.out(), "because").value_or("").find("magic number") != std::string::npos);
    CHECK(tool.err().empty());
}

} // namespace bad_files_test
