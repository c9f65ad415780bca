// SPDX-License-Identifier: BSD-3-Clause
// `plexus forward`: listens, is found by those who name it, and ends by a signal with exit code 0.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <csignal>
#include <filesystem>

namespace forward_verb_test {

using namespace plexus::testing;

namespace {

/// A file that only its owner may read.
std::string key_in(const TmpDir& folder) {
    const auto path = folder.file("key", "k3J0mQ1vT8sYx5Zb7Rf2Wn9Hc4Gd6Lp0\n");
    std::filesystem::permissions(path,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path.string();
}

Words gate(const std::string& key, const Words& more) {
    Words words{"forward", "--listen", "plexus://127.0.0.1:0", "--set", "job.key_file=" + key,
                "--set",   "name=gate"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

TEST_CASE("plexus forward is found under the URL that it prints, and ends by a signal") {
    const TmpDir folder;
    const std::string key = key_in(folder);
    Command tool(gate(key, {"--json"}));
    REQUIRE(tool.says("\n"));
    REQUIRE(is_json(tool.out()));
    std::string url = value_of(tool.out(), "url").value_or("");
    REQUIRE(url.size() > 2);
    url = url.substr(1, url.size() - 2); // it is quoted in JSON
    CHECK(value_of(tool.out(), "id")->size() == 32 + 2);

    Command info({"info", "--table", "--set", "methods=tcp, forward", "--set", "method.forward.via=" + url,
                  "--set", "job.key_file=" + key});
    CHECK(info.wait() == 0);
    INFO(info.err());
    CHECK(count_of(info.out(), "\nforward:gate ") == 1);

    tool.kill(SIGTERM);
    CHECK(tool.wait() == 0);
    CHECK(tool.err().empty());
    CHECK(tool.left_nothing());
}

TEST_CASE("plexus forward says where it relays; a place where nobody can listen is an error") {
    const TmpDir folder;
    const std::string key = key_in(folder);
    Command tool(gate(key, {"--allow", "bob"}));
    REQUIRE(tool.says("\n"));
    CHECK(tool.out().starts_with("relays at plexus://127.0.0.1:"));
    tool.kill(SIGINT);
    CHECK(tool.wait() == 0);

    Command nowhere({"forward", "--listen", "plexus://192.0.2.1:1", "--set", "job.key_file=" + key});
    CHECK(nowhere.wait() == 3);
    CHECK(count_of(nowhere.err(), "192.0.2.1") >= 1);
    Command none({"forward", "--listen", "127.0.0.1", "--set", "job.key_file=" + key});
    CHECK(none.wait() == 2);
    CHECK(count_of(none.err(), "plexus://") >= 1);
}

} // namespace forward_verb_test
