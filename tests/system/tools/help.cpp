// SPDX-License-Identifier: BSD-3-Clause
// What the verbs say about themselves, and what they say to a command line that is wrong.
#include "support/catch.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

namespace help_test {

using namespace plexus::testing;

TEST_CASE("the JSON reader of these tests takes JSON and nothing else") {
    for (const char* good : {"{}", "[]", R"({"a":[1,-2.5e+3,true,null],"b":{"c":"\u00e9\n"}})", " 0 "})
        CHECK(is_json(good));
    for (const char* bad :
         {"", "{", "{a:1}", "[1,]", "01", "1.", "\"\\x\"", "{} {}", "nul", "-", "[1 2]", "\"a"})
        CHECK_FALSE(is_json(bad));
    CHECK(value_of(R"({"a":{"b":[1,2]},"c":3})", "b") == "[1,2]");
    CHECK(number_of(R"({"a":null,"c":3.5})", "c") == 3.5);
    CHECK_FALSE(number_of(R"({"a":null,"c":3.5})", "a"));
}

TEST_CASE("every verb is listed, and explains itself") {
    Command all({"--help"});
    CHECK(all.wait() == 0);
    for (const std::string verb : {"run", "info", "explain", "bench", "probe", "map", "schedule", "forward",
                                   "top", "lab", "check-module"}) {
        INFO(verb);
        CHECK(count_of(all.out(), "\n  " + verb + " ") == 1);
        Command help({verb, "--help"});
        CHECK(help.wait() == 0);
        CHECK(help.out().find("Usage: plexus " + verb) != std::string::npos);
        CHECK(help.out().find("xit code") != std::string::npos);
        CHECK(help.err().empty());
        Command asked({"help", verb});
        CHECK(asked.wait() == 0);
        CHECK(asked.out() == help.out());
    }
}

TEST_CASE("a wrong command line ends with 2 and one sentence that names what is wrong") {
    struct Wrong {
        Words words;
        std::string part;
    };
    const Wrong cases[] = {
        {{"info", "--nonsense"}, "--nonsense"},
        {{"info", "extra"}, "extra"},
        {{"info", "--set", "log"}, "KEY=VALUE"},
        {{"info", "--table", "--config"}, "--config"},
        {{"info", "--measure", "--table"}, "--table"},
        {{"info", "--output", "file"}, "--measure"},
        {{"explain"}, "one of URL, --table and --pointer"},
        {{"explain", "plexus://127.0.0.1:1", "--table", "file"}, "one of URL, --table and --pointer"},
        {{"explain", "--table", "file", "--name", "x"}, "--name"},
        {{"bench"}, "latency, bandwidth, rate, put, get, dual, idle or collective"},
        {{"bench", "--json", "collective"}, "before them"},
        {{"bench", "speed"}, "\"speed\""},
        {{"bench", "latency", "--size", "8,many"}, "\"many\""},
        {{"bench", "latency", "--size", ","}, "no size"},
        {{"bench", "latency", "--iterations", "0"}, "--iterations"},
        {{"bench", "latency", "--threads", "2"}, "--threads"},
        {{"bench", "dual", "--skip-poll", "1,0"}, "\"0\""},
        {{"bench", "latency", "--skip-poll", "1"}, "--skip-poll"},
        {{"bench", "dual", "--methods", "shm"}, "two methods"},
        {{"bench", "rate", "--cores", "0"}, "--inside"},
        {{"bench", "latency", "--buffers", "0"}, "--buffers"},
        {{"bench", "rate", "--buffers", "2"}, "--buffers"},
        {{"bench", "put", "--size", "4KiB,1MiB", "--buffers", "1025"}, "1 GiB"},
        {{"probe"}, "FILE"},
        {{"probe", "x"}, "one context"},
        {{"probe", "x", "--sizes", "8,many"}, "\"many\""},
        {{"probe", "x", "--metric", "speed"}, "\"speed\""},
        {{"probe", "x", "--sizes", "8", "--metric", "64"}, "--metric 64"},
        {{"probe", "x", "--tolerance", "20"}, "\"20\""},
        {{"probe", "x", "--trips", "0"}, "--trips"},
        {{"bench", "collective", "--operation", "shout"}, "\"shout\""},
        {{"bench", "collective", "--pattern", "tree:0"}, "\"tree:0\""},
        {{"bench", "collective", "--pattern", "star:2"}, "\"star:2\""},
        {{"bench", "collective", "--pattern", "eco"}, "--map"},
        {{"bench", "collective", "--pattern", "models"}, "--map"},
        {{"bench", "collective", "--operation", "scan", "--pattern", "bruck,star"}, "star supports none"},
        {{"bench", "collective", "--size", "12"}, "\"12\""},
        {{"bench", "collective", "--clock", "wall"}, "\"wall\""},
        {{"bench", "collective", "--order", "x"}, "\"x\""},
        {{"bench", "collective", "--members", "1"}, "\"1\""},
        {{"bench", "collective", "--contexts", "1"}, "--contexts"},
        {{"map"}, "partition"},
        {{"map", "draw", "x"}, "\"draw\""},
        {{"map", "partition"}, "FILE"},
        {{"map", "partition", "x", "--set", "log=off"}, "--set"},
        {{"map", "partition", "x", "--plexus-log=off"}, "--plexus-log"},
        {{"map", "partition", "x", "--tolerance", "20"}, "\"20\""},
        {{"map", "partition", "x", "--symmetric", "most"}, "max, mean, min"},
        {{"map", "partition", "x", "--cost", "p99"}, "\"p99\""},
        {{"map", "partition", "x", "--size", "big"}, "\"big\""},
        {{"check-module"}, "which file"},
        {{"check-module", "x.so", "--set", "port"}, "KEY=VALUE"},
        {{"check-module", "x.so", "--plexus-log=off"}, "--plexus-log"},
        {{"lab", "x.toml", "--on", "h1", "--hosts", "h2", "--", "true"}, "--hosts"},
        {{"lab", "x.toml", "--on", "h1", "-n", "2", "--", "true"}, "--contexts"},
        {{"check-module", "x.so", "--timeout", "0"}, "--timeout"},
    };
    for (const Wrong& wrong : cases) {
        Command tool(wrong.words);
        INFO(wrong.words.back());
        CHECK(tool.wait() == 2);
        CHECK(tool.err().starts_with("plexus " + wrong.words.front() + ": "));
        CHECK(tool.err().find(wrong.part) != std::string::npos);
        CHECK(count_of(tool.err(), "\n") == 1);
        CHECK(tool.out().empty());
    }
}

} // namespace help_test
