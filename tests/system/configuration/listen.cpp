// SPDX-License-Identifier: BSD-3-Clause
// The key `listen` alone lets contexts of other hosts join and call.
#include "support/catch.h"
#include "system/lab/lab.h"

namespace listen_test {

using namespace plexus::testing;

namespace {

/// The line of `plexus info --config` that begins with this key.
std::string line_of(const std::string& key, Words more) {
    more.insert(more.begin(), {"info", "--config"});
    Command tool(more);
    if (tool.wait() != 0) return "info failed: " + tool.err();
    for (const std::string& line : tool.lines())
        if (line.starts_with(key + " ")) return line;
    return "no such key";
}

} // namespace

TEST_CASE("a context that listens for other hosts can be called by them, with no other key set") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(lab_words(network, {"--hosts", "h1,h2"}, {helper(), "meet", "plexus://h1:7117"}));
    CHECK(lab.wait() == 0);
    INFO(lab.out() << lab.err());
    CHECK(count_of(lab.out(), "[1] answer 42") == 1);
}

TEST_CASE("what listens because of `listen` says so, and does not where somebody says otherwise") {
    const std::string key = "method.tcp.listen";
    const std::string everywhere = line_of(key, {"--plexus-listen=plexus://0.0.0.0:0"});
    CHECK(count_of(everywhere, " all ") == 1);
    CHECK(count_of(everywhere, "listen (--plexus-listen)") == 1);
    const std::string chosen =
        line_of(key, {"--plexus-listen=plexus://0.0.0.0:0", "--plexus-method.tcp.listen=loopback"});
    CHECK(count_of(chosen, " loopback ") == 1);
    CHECK(count_of(chosen, "--plexus-method.tcp.listen") == 1);
    CHECK(count_of(line_of(key, {"--plexus-listen=plexus://127.0.0.1:0"}), " default ") == 1);
    CHECK(count_of(line_of(key, {}), " default ") == 1);
}

} // namespace listen_test
