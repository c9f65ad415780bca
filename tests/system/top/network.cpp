// SPDX-License-Identifier: BSD-3-Clause
// `plexus top URL`: a program that listens is asked over the network, by whoever has its key.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/tools/json_text.h"
#include "system/top/words.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace top_network_test {

using namespace plexus::testing;

namespace {

/// One of the two programs, with settings.
Words program(const std::string& key, Words more) {
    Words words{"--plexus-job.key_file=" + key};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// A program that listens, and the files of its key and of another.
class Listening {
  public:
    explicit Listening(const Words& settings)
      : command_(OtherProgram{std::getenv("TESTED_TOP")}, words(settings), "") {
        INFO(command_.err());
        REQUIRE(command_.says("listens plexus://"));
        const std::string line = command_.lines().at(0);
        url_ = line.substr(line.find("plexus://"));
    }

    Command& command() noexcept { return command_; }
    const std::string& url() const noexcept { return url_; }
    std::string key(char letter = 'a') {
        const std::string path = folder_ / std::string(1, letter);
        if (std::filesystem::exists(path)) return path;
        std::ofstream(path) << std::string(64, letter);
        std::filesystem::permissions(path, std::filesystem::perms::owner_read);
        return path;
    }
    Words look_words(const Words& more, char letter = 'a') {
        Words words{"top", "--once", url_, "--set", "job.key_file=" + key(letter)};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

  private:
    Words words(const Words& settings) {
        Words more{"--plexus-listen=plexus://127.0.0.1:0"};
        more.insert(more.end(), settings.begin(), settings.end());
        return program(key(), more);
    }

    TmpDir folder_;
    Command command_;
    std::string url_;
};

} // namespace

TEST_CASE("plexus top asks a program that listens over the network, and sees the messages of its clients") {
    Listening server({"--plexus-name=gate", "--plexus-methods=tcp"});
    Command client(OtherProgram{std::getenv("TESTED_TOP")},
                   program(server.key(), {"--plexus-name=client", "--plexus-methods=tcp", server.url()}), "");
    REQUIRE(client.says("going"));
    const auto received = [&] {
        Command tool(server.look_words({"--json"}));
        INFO(tool.err());
        CHECK(tool.wait() == 0);
        const std::vector<std::string> contexts = contexts_in(tool.out());
        REQUIRE(contexts.size() == 1);
        CHECK(is_json(tool.out()));
        CHECK(text_of(contexts[0], "name") == "gate");
        CHECK(text_of(contexts[0], "program") == "top_helper");
        CHECK(value_of(contexts[0], "fresh") == "true");
        double most = 0;
        for (const std::string& row : rows_in(contexts[0], "peer"))
            if (text_of(row, "peer_name") == "client")
                most = std::max(most, number_of(row, "received_messages").value_or(0));
        return most;
    };
    const double first = received();
    CHECK(first > 0);
    CHECK(eventually(20s, [&] { return received() >= first + 5; }));

    Command table(server.look_words({}));
    CHECK(table.wait() == 0);
    CHECK(table.out().find("gate") != std::string::npos);
    Command exposed(server.look_words({"--prometheus"}));
    CHECK(exposed.wait() == 0);
    CHECK(exposed.out().find("plexus_peer_received_messages_total") != std::string::npos);
    CHECK(count_of(server.command().out(), "out of order") == 0);
}

TEST_CASE("who has another key, or asks one that shows or does nothing, is told so") {
    Listening server({"--plexus-methods=tcp"});
    Command stranger(server.look_words({}, 'b'));
    CHECK(stranger.wait() == 3);
    CHECK(stranger.err().find("key") != std::string::npos);
    CHECK(stranger.left_nothing());

    ::kill(server.command().pid(), SIGSTOP);
    Command hasty(server.look_words({"--set", "progress.lookup_timeout=1s"}));
    CHECK(hasty.wait() != 0);
    CHECK_FALSE(hasty.err().empty());
    ::kill(server.command().pid(), SIGCONT);
    Command patient(server.look_words({}));
    CHECK(patient.wait() == 0);

    Listening hidden({"--plexus-methods=tcp", "--plexus-counters=false"});
    Command none(hidden.look_words({}));
    CHECK(none.wait() == 1);
    CHECK(none.err().find("no context tells its counters at " + hidden.url()) != std::string::npos);
    CHECK(none.err().find("rank 0") != std::string::npos);
}

} // namespace top_network_test
