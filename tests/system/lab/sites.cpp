// SPDX-License-Identifier: BSD-3-Clause
// Two sites with a file of five lines each, those of the examples, and two subnets of one site with a router
// between: inside, tcp; between, tls. Every card is captured.
#include "support/tmpdir.h"
#include "system/lab/lab.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sites_test {

using namespace plexus::testing;

namespace {

const std::string kTwoSites = R"(
[[segment]]
name = "all"
rate = "100 Mb/s"
delay = "1 ms"
hosts = ["kiel-1", "kiel-2", "oslo-1"]
)";

// The lab is one Ethernet: the hosts have addresses in two networks besides, and the last host is a router.
const std::string kTwoSubnets = R"(
[[segment]]
name = "all"
rate = "100 Mb/s"
delay = "1 ms"
hosts = ["east-1", "east-2", "west-1", "gate"]
)";

const std::string kEnterSubnet = R"(
set -e
set -- $(ip -o -4 address show to 10.77.0.0/16)
card=$2
near() { ip neighbour replace $1 lladdr 02:70:6c:78:00:0$2 dev $card nud permanent; }
near 10.78.1.1 0; near 10.78.1.2 1; near 10.78.2.1 2; near 10.78.1.254 3; near 10.78.2.254 3
case $(hostname) in
east-1) own=10.78.1.1/24 router=10.78.1.254 ;;
east-2) own=10.78.1.2/24 router=10.78.1.254 ;;
west-1) own=10.78.2.1/24 router=10.78.2.254 ;;
gate)
    own=10.78.1.254/24 router=
    ip address add 10.78.2.254/24 dev $card
    for key in all $card; do echo 0 > /proc/sys/net/ipv4/conf/$key/send_redirects; done
    echo 1 > /proc/sys/net/ipv4/ip_forward ;;
esac
ip address add $own dev $card
test -z "$router" || ip route add 10.78.0.0/16 via $router
export PLEXUS_METHOD_TCP_LISTEN=10.78.0.0/16 PLEXUS_METHOD_TLS_LISTEN=10.78.0.0/16
)";

/// The number behind "rank N captured … frames, " in the output.
long readable_at(const std::string& out, int rank) {
    const std::string line = "rank " + std::to_string(rank) + " captured ";
    const std::size_t at = out.find(line);
    const std::size_t comma = at == out.npos ? at : out.find("frames, ", at);
    return comma == out.npos ? -1 : std::strtol(out.c_str() + comma + 8, nullptr, 10);
}

} // namespace

TEST_CASE("no text can be read between two sites, and all can inside one") {
    NEEDS_LABS();
    if (std::getenv("TESTED_CROSSING") == nullptr) SKIP_TEST("this build has no tls");
    const TmpDir folder;
    const std::string examples = std::getenv("TESTED_SITES");
    for (const char* file : {"kiel.toml", "oslo.toml"})
        std::filesystem::copy(examples + "/" + file, folder / file);
    const bool oslo_too = GENERATE(true, false); // one side's rule is enough
    if (!oslo_too)
        std::ofstream(folder / "oslo.toml")
            << "methods = [\"local\", \"shm\", \"tcp\", \"tls\"]\nsite = \"oslo\"\n";
    const NetworkFile network(kTwoSites);
    const std::string script = std::string("exec ") + std::getenv("TESTED_CROSSING") + " --plexus-config " +
                               (folder / "").string() + "$(hostname | cut -d- -f1).toml";
    Command lab(lab_words(network, {"--no-prefix", "--quiet"}, {"sh", "-c", script}));
    CHECK(lab.wait(60s * kPatience) == 0);
    INFO(lab.out() << lab.err());
    CHECK(count_of(lab.out(), "rank 0 reaches rank 1 by tcp\n") == 1);
    CHECK(count_of(lab.out(), "rank 0 reaches rank 2 by tls\n") == 1);
    CHECK(count_of(lab.out(), "tcp: only within site kiel; the peer is at oslo") == 1);
    CHECK(readable_at(lab.out(), 0) > 0);
    CHECK(readable_at(lab.out(), 1) > 0);
    CHECK(readable_at(lab.out(), 2) == 0);
    CHECK(lab.left_nothing());
}

TEST_CASE("within a subnet goes what no router passes on, and tls goes beyond") {
    NEEDS_LABS();
    if (std::getenv("TESTED_CROSSING") == nullptr) SKIP_TEST("this build has no tls");
    if (std::system("command -v ip > /dev/null") != 0) SKIP_TEST("there is no command ip");
    const TmpDir folder;
    const auto file =
        folder.file("subnet.toml",
                    "methods = [\"local\", \"shm\", \"tcp\", \"tls\"]\n[method.tcp]\nwithin = \"subnet\"\n");
    const NetworkFile network(kTwoSubnets);
    const std::string script =
        kEnterSubnet + "exec " + std::getenv("TESTED_CROSSING") + " --plexus-config " + file.string();
    Command lab(lab_words(network, {"--no-prefix", "--quiet"}, {"sh", "-c", script}));
    CHECK(lab.wait(60s * kPatience) == 0);
    INFO(lab.out() << lab.err());
    CHECK(count_of(lab.out(), "rank 0 reaches rank 1 by tcp\n") == 1);
    CHECK(count_of(lab.out(), "rank 0 reaches rank 2 by tls\n") == 1);
    CHECK(count_of(lab.out(), "rank 0 reaches rank 3 by tcp\n") == 1);
    CHECK(count_of(lab.out(), "rank 0 to rank 2: ") == 1);
    CHECK(count_of(lab.out(), "only within this subnet; the peer has no address in a network of this host") >=
          1);
    CHECK(readable_at(lab.out(), 1) > 0);
    CHECK(readable_at(lab.out(), 2) == 0);
    CHECK(lab.left_nothing());
}

} // namespace sites_test
