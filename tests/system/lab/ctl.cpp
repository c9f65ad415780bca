// SPDX-License-Identifier: BSD-3-Clause
// A lab that runs is told to cut a link, to mend it, and what to count.
#include "system/lab/lab.h"
#include "system/tools/json_text.h"

namespace ctl_test {

using namespace plexus::testing;

namespace {

/// What `plexus lab ctl` says to this lab.
std::string ask(const Command& lab, const Words& request, int code = 0) {
    Words words{"lab", "ctl", "--lab", std::to_string(lab.pid())};
    words.insert(words.end(), request.begin(), request.end());
    Command ctl(words);
    CHECK(ctl.wait() == code);
    return ctl.out() + ctl.err();
}

// Each line one answer from the other host; with a limit, so that a cut is seen soon.
const std::string kAsk = R"(
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 5002))
s.settimeout(0.5)
import os
rank = int(os.environ["PLEXUS_JOB_RANK"])
print("ready", flush=True)
while True:
    if rank == 1:
        try:
            data, who = s.recvfrom(100)
            s.sendto(data, who)
        except OSError: pass
        continue
    try:
        s.sendto(b"x", ("h2", 5002))
        s.recvfrom(100)
        print("answer", flush=True)
    except OSError:
        print("silence", flush=True)
    time.sleep(0.01)
)";

} // namespace

TEST_CASE("a host that is cut off hears nothing until it is mended") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(lab_words(network, {}, {"python3", "-c", kAsk}));
    if (!lab.says("ready", 2)) SKIP_TEST("python3 is not installed");
    REQUIRE(lab.says("answer", 3));
    const std::string heard = lab.out();
    CHECK(count_of(heard.substr(heard.find("answer")), "silence") == 0); // before it, the port was not bound
    ask(lab, {"down", "h2"});
    const int silent = count_of(lab.out(), "silence");
    CHECK(lab.says("silence", silent + 3));
    ask(lab, {"up", "h2"});
    const int answered = count_of(lab.out(), "answer");
    CHECK(lab.says("answer", answered + 3));
    ask(lab, {"down", "net"});
    const int silent_again = count_of(lab.out(), "silence");
    CHECK(lab.says("silence", silent_again + 3));

    const std::string report = ask(lab, {"report", "json"});
    REQUIRE(is_json(report));
    CHECK(number_of(report, "frames").value_or(0) > 5);
    CHECK(count_of(report, "\"up\":false") == 4); // both cables, in both directions
    CHECK(ask(lab, {"report", "text"}).find("h1 > net") != std::string::npos);
    ask(lab, {"rate", "h1", "1", "Mb/s"});
    CHECK(count_of(ask(lab, {"report", "json"}), "\"rate_bps\":1000000,") == 2);
    CHECK(ask(lab, {"rate", "h1", "quick"}, 1).find("rate takes a part and a rate") != std::string::npos);
    CHECK(ask(lab, {"rate", "h9", "1 Mb/s"}, 1).find("no host, segment, bridge or link \"h9\"") !=
          std::string::npos);
    ask(lab, {"reset"});
    CHECK(ask(lab, {"down", "h9"}, 1).find("no host, segment, bridge or link \"h9\"") != std::string::npos);
    CHECK(ask(lab, {"explode"}, 1).find("a lab takes") != std::string::npos);
}

} // namespace ctl_test
