// SPDX-License-Identifier: BSD-3-Clause
// What `plexus top` prints for people and for Prometheus, and what it says to a wrong command line.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/tools/json_text.h"
#include "system/top/exposition.h"
#include "system/top/words.h"

#include <filesystem>

namespace top_formats_test {

using namespace plexus::testing;

TEST_CASE("the reader of Prometheus' format takes it and nothing else") {
    std::string why;
    const auto good = read_exposition("# HELP a_total some \\\\ help\n# TYPE a_total counter\n"
                                      "a_total{b=\"c\\\"\\n\\\\\",d=\"\xc3\xa9\"} 1.5e3\na_total{b=\"\"} 0\n",
                                      why);
    REQUIRE(good);
    CHECK(good->at("a_total").help == "some \\ help");
    CHECK(good->at("a_total").values.at({{"b", "c\"\n\\"}, {"d", "\xc3\xa9"}}) == 1500);
    for (const char* bad :
         {"", "a{b=\"c\"} 1\n", "# HELP a x\n# TYPE a gauge\na{b=\"c\"} 1", "# TYPE a gauge\na{b=\"c\"} 1\n",
          "# HELP a x\n# TYPE a counter\n", "# HELP a_total x\n# TYPE a_total gauge\n",
          "# HELP a x\n# TYPE a gauge\na{b=\"c\"} x\n", "# HELP a x\n# TYPE a gauge\na{b=\"c\",b=\"d\"} 1\n",
          "# HELP a x\n# TYPE a gauge\na{b=\"c\"} 1\na{b=\"c\"} 2\n",
          "# HELP a x\n# TYPE a gauge\na{1=\"c\"} 1\n", "# HELP a x\n# TYPE a gauge\na{b=\"\xff\"} 1\n",
          "# HELP a x\n# TYPE a gauge\na{b=\"\\t\"} 1\n", "# HELP a_ns x\n# TYPE a_ns gauge\n"})
        CHECK_FALSE(read_exposition(bad, why));
}

TEST_CASE("plexus top exposes a job's counters to Prometheus, with names as they are") {
    SendingJob job({"methods=shm", "name=a \"pair\" \\ of\xff"});
    const std::string text = look({"--prometheus", job.id()});
    std::string why;
    const auto all = read_exposition(text, why);
    INFO(why);
    REQUIRE(all);
    const auto& sent = all->at("plexus_peer_sent_messages_total");
    CHECK(sent.type == "counter");
    bool has_some = false;
    for (const auto& [labels, value] : sent.values) {
        CHECK(labels.at("name") == "a \"pair\" \\ of\xef\xbf\xbd");
        CHECK(labels.at("job") == job.id());
        CHECK(labels.at("method") == "shm");
        has_some = has_some || value > 0;
    }
    CHECK(has_some);
    CHECK(all->at("plexus_context_fresh").values.size() == 2);
    CHECK(all->at("plexus_method_poll_cost_seconds").type == "gauge");
    if (std::filesystem::exists("/usr/bin/promtool")) {
        Command promtool(OtherProgram{"/usr/bin/promtool"}, {"check", "metrics"}, text);
        CHECK(promtool.wait() == 0);
        CHECK(promtool.err().empty());
    }
}

TEST_CASE("plexus top lists contexts in lines, and shows methods and peers of the chosen") {
    SendingJob job({"name=ocean"});
    const std::string list = look({"--once"});
    CHECK(list.starts_with("process"));
    CHECK(count_of(list, "top_helper") >= 2);
    CHECK(count_of(list, "ocean") >= 2);
    CHECK(count_of(list, " 0/2 ") >= 1);
    CHECK(count_of(list, " 1/2 ") >= 1);
    const std::string chosen = look({job.id()});
    CHECK(count_of(chosen, ", rank 0 of 2 in job " + job.id()) == 1);
    CHECK(count_of(chosen, "hit rate") == 2);
    CHECK(count_of(chosen, "queued") == 2);
}

TEST_CASE("plexus top shows the groups of the chosen, in lines and to Prometheus") {
    RunningJob job("TESTED_TOP_GROUPS", {});
    const std::string chosen = look({job.id()});
    CHECK(count_of(chosen, "under way") == 2);
    CHECK(count_of(chosen, " 0/2 ") == 1);
    CHECK(count_of(chosen, " 1/2 ") == 1);
    const auto calls = [&] {
        std::string why;
        const auto all = read_exposition(look({"--prometheus", job.id()}), why);
        INFO(why);
        REQUIRE(all);
        CHECK(all->at("plexus_group_members").type == "gauge");
        double sum = 0;
        for (const char* way : {"message", "memory", "hierarchical", "multicast"})
            for (const auto& [labels, value] :
                 all->at("plexus_group_" + std::string(way) + "_calls_total").values) {
                CHECK(labels.at("group").size() == 16);
                sum += value;
            }
        return sum;
    };
    const double first = calls();
    CHECK(first > 0);
    CHECK(eventually(20s, [&] { return calls() >= first + 20; }));
}

TEST_CASE("a wrong command line of plexus top ends with 2 and one sentence") {
    struct Wrong {
        Words words;
        std::string part;
    };
    const Wrong cases[] = {{{"top", "--json", "--prometheus"}, "--prometheus"},
                           {{"top", "--interval", "0"}, "--interval"},
                           {{"top", "--interval", "soon"}, "soon"},
                           {{"top", "1", "2"}, "2"},
                           {{"top", "--plexus-log=off"}, "go with a URL"},
                           {{"top", "1", "--set", "log=off"}, "go with a URL"}};
    for (const Wrong& wrong : cases) {
        Command tool(wrong.words);
        INFO(wrong.words.back());
        CHECK(tool.wait() == 2);
        CHECK(tool.err().starts_with("plexus top: "));
        CHECK(tool.err().find(wrong.part) != std::string::npos);
        CHECK(count_of(tool.err(), "\n") == 1);
        CHECK(tool.out().empty());
    }
}

} // namespace top_formats_test
