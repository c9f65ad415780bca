// SPDX-License-Identifier: BSD-3-Clause
// `plexus top` beside a job that runs: what it sees, and what is left when the job has ended.
#include "support/catch.h"
#include "support/footprint.h"
#include "system/tools/json_text.h"
#include "system/top/words.h"

#include <csignal>

namespace top_jobs_test {

using namespace plexus::testing;

namespace {

/// What the context of that rank says of its way to the other.
std::string way_of(const std::string& job, const char* rank) {
    for (const std::string& context : contexts_in(look_json(job)))
        if (value_of(context, "rank") == rank)
            for (const std::string& row : rows_in(context, "peer"))
                if (number_of(row, "sent_messages").value_or(0) > 0) return row;
    return {};
}

std::string way_of_sender(const std::string& job) { return way_of(job, "0"); }

double sent(const std::string& way) { return number_of(way, "sent_messages").value_or(-1); }

} // namespace

TEST_CASE("plexus top sees a job's messages rise, to which peer and by which method") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    SendingJob job({"methods=" + method, "name=pair"});
    const std::vector<std::string> contexts = contexts_in(look_json(job.id()));
    REQUIRE(contexts.size() == 2);
    for (const std::string& context : contexts) {
        CHECK(value_of(context, "fresh") == "true");
        CHECK(text_of(context, "job") == job.id());
        CHECK(text_of(context, "name") == "pair");
        CHECK(text_of(context, "program") == "top_helper");
        CHECK(number_of(context, "size") == 2);
        REQUIRE(rows_in(context, "context").size() == 1);
        CHECK(number_of(rows_in(context, "context")[0], "peers") == 1);
        REQUIRE(rows_in(context, "method").size() == 1);
        CHECK(text_of(rows_in(context, "method")[0], "method") == method);
        CHECK(number_of(rows_in(context, "method")[0], "polls") > 0);
    }
    const std::string first = way_of_sender(job.id());
    CHECK(text_of(first, "method") == method);
    CHECK(text_of(way_of(job.id(), "1"), "peer_name") == "pair"); // who sends requests has said its name
    CHECK(number_of(first, "in_use") == 1);
    CHECK(number_of(first, "links") == 1);
    const bool is_other = text_of(first, "peer") == text_of(contexts[0], "context") ||
                          text_of(first, "peer") == text_of(contexts[1], "context");
    CHECK(is_other);
    CHECK(sent(first) > 0);
    CHECK(eventually(20s, [&] { return sent(way_of_sender(job.id())) >= sent(first) + 20; }));
    const std::string later = way_of_sender(job.id());
    CHECK(number_of(later, "sent_bytes") > *number_of(first, "sent_bytes"));
    // Each request is answered before the next.
    CHECK(*number_of(later, "received_messages") >= sent(later) - 5);

    CHECK(count_of(job.command().out(), "out of order") == 0);
    const std::string process = std::to_string(*job.command().ranks().begin());
    const std::vector<std::string> one = contexts_in(look_json(process));
    REQUIRE(one.size() == 1);
    CHECK(value_of(one[0], "process") == process);
}

TEST_CASE("nothing of a job is left to see when it has ended, also when it was killed") {
    const int signal = GENERATE(SIGTERM, SIGKILL);
    CAPTURE(signal);
    const Footprint before = Footprint::now();
    SendingJob job({});
    const std::string process = std::to_string(*job.command().ranks().begin());
    CHECK(look({"--once", process}).find(process) != std::string::npos);
    for (const pid_t rank : job.command().ranks())
        if (signal == SIGKILL) ::kill(rank, SIGKILL);
    job.command().kill(signal);
    CHECK(job.command().wait());
    CHECK(job.command().left_nothing());
    Command gone({"top", "--once", process});
    CHECK(gone.wait() == 1);
    CHECK(gone.err() == "plexus top: there is no process " + process + " on this host\n");
    Command none({"top", "--once", job.id()});
    CHECK(none.wait() == 1);
    CHECK(none.err() == "plexus top: no context of a job \"" + job.id() + "\" runs on this host\n");
    CHECK(Footprint::now().left_since(before).empty());
}

TEST_CASE("a job that shows no counters is not seen") {
    Command job({"run", "-n", "2", "--set", "counters=false", "--", std::getenv("TESTED_TOP")});
    REQUIRE(job.says("going"));
    const std::string process = std::to_string(*job.ranks().begin());
    Command tool({"top", process});
    CHECK(tool.wait() == 1);
    CHECK(tool.err() == "plexus top: process " + process + " has no context that shows its counters\n");
    job.kill(SIGTERM);
    CHECK(job.wait());
}

TEST_CASE("a job that is stopped is shown with what it told before, and goes on unharmed") {
    SendingJob job({});
    const std::string before = way_of_sender(job.id());
    for (const pid_t rank : job.command().ranks()) ::kill(rank, SIGSTOP);
    const auto stopped = [&] {
        const std::vector<std::string> contexts = contexts_in(look_json(job.id()));
        return contexts.size() == 2 && value_of(contexts[0], "fresh") == "false" &&
               value_of(contexts[1], "fresh") == "false";
    };
    CHECK(eventually(10s, stopped));
    CHECK(sent(way_of_sender(job.id())) >= sent(before));
    CHECK(look({"--once"}).find("does not answer; counters of ") != std::string::npos);
    for (const pid_t rank : job.command().ranks()) ::kill(rank, SIGCONT);
    const double last = sent(way_of_sender(job.id()));
    CHECK(eventually(10s, [&] { return sent(way_of_sender(job.id())) >= last + 5; }));
}

} // namespace top_jobs_test
