// SPDX-License-Identifier: BSD-3-Clause
// The port of a context whose links have TCP connections of their own: what the program openssl, plain
// sockets and somebody in the middle get from it.
#include "authority.h"
#include "common/proof.h"
#include "guest.h"
#include "stream_link/listener.h"
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"
#include "tls/credentials.h"
#include "tls/greeting.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

namespace own_socket_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;
using Settings = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

namespace {

BareOptions impatient(Settings settings) {
    settings.emplace("handshake_timeout", std::to_string(kPatience) + " s");
    return with(std::move(settings));
}

std::size_t lines_with(const BareHost& host, std::string_view part) {
    const auto lines = host.log_lines();
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    }));
}

/// What `openssl s_client` prints when it talks to the port until the other side, or the time limit, ends
/// that.
std::string s_client(BareHost& host, const TmpDir& folder, const Words& more) {
    const std::string out = folder / "s_client.out";
    Words words{std::getenv("TESTED_OPENSSL"),
                "s_client",
                "-connect",
                "127.0.0.1:" + std::to_string(port_of(host)),
                "-brief",
                "-ign_eof"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> raw;
    for (std::string& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    Process client([&](Channel&) {
        const int file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int nothing = ::open("/dev/null", O_RDONLY);
        ::dup2(nothing, 0);
        ::dup2(file, 1);
        ::dup2(file, 2);
        ::execv(raw[0], raw.data());
        return 127;
    });
    std::optional<int> code;
    CHECK(pump({&host}, 15s, [&] { return (code = client.wait(0ms)).has_value(); }));
    CHECK(code != 127);
    for (int i = 0; i < 50; ++i) host.poll();
    std::ostringstream text;
    text << std::ifstream(out).rdbuf();
    return text.str();
}

Words files_of(const Authority& trusted, const Authority::Member& member) {
    return {"-tls1_3",          "-CAfile", trusted.file(), "-cert",
            member.certificate, "-key",    member.key,     "-verify_return_error"};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// One end of the first words of a connection, without a connection.
struct Speaker {
    Speaker(const Authority& authority, const Authority::Member& member, std::uint8_t key)
      : host(method_of(plexus_passport), {{}, {key}, authority.settings(member)})
      , options(*plexus::tls::read_options(host.table()))
      , credentials(host.table(), options) {
        REQUIRE(credentials.load().empty());
    }
    std::unique_ptr<plexus::tls::Engine> engine(bool is_client) {
        return std::make_unique<plexus::tls::Engine>(credentials.make_session(is_client), 1 << 30);
    }
    std::unique_ptr<plexus::tls::Greeting> greeting(const std::optional<plexus_id>& wanted) {
        return std::make_unique<plexus::tls::Greeting>(host.table(), engine(wanted.has_value()), wanted, 0);
    }

    BareHost host;
    plexus::tls::Options options;
    plexus::tls::Credentials credentials;
};

using Said = std::vector<std::uint8_t>;

/// Gives `to` what was said, byte for byte as it asks for them; its last verdict.
std::int32_t hear(plexus::tls::Greeting& to, const Said& said) {
    std::int32_t verdict = PLEXUS_AGAIN;
    for (std::size_t at = 0; at < said.size() && verdict == PLEXUS_AGAIN;) {
        const auto room = to.room();
        const std::size_t size = std::min(room.size(), said.size() - at);
        std::memcpy(room.data(), said.data() + at, size);
        at += size;
        verdict = to.took(size);
    }
    return verdict;
}

struct Verdicts {
    std::int32_t of_client = PLEXUS_AGAIN;
    std::int32_t of_server = PLEXUS_AGAIN;
};

Verdicts greet(plexus::tls::Greeting& client, plexus::tls::Greeting& server) {
    Verdicts said;
    for (int i = 0; i < 8; ++i) {
        if (const Said words = client.take_outgoing(); !words.empty() && said.of_server == PLEXUS_AGAIN)
            said.of_server = hear(server, words);
        if (const Said words = server.take_outgoing(); !words.empty() && said.of_client == PLEXUS_AGAIN)
            said.of_client = hear(client, words);
    }
    return said;
}

/// A holder of a certificate with a session to each of two others, who hands on what they say in them.
class Middle {
  public:
    Middle(Speaker& self, plexus::tls::Greeting& client, plexus::tls::Greeting& server)
      : client_(client)
      , server_(server)
      , to_client_(self.engine(false))
      , to_server_(self.engine(true)) {}

    Verdicts carry() {
        plexus::tls::Block out;
        (void)to_server_->shake({}, out);
        tell(server_, out, verdicts_.of_server);
        for (int i = 0; i < 8; ++i) {
            listen(client_, *to_client_, verdicts_.of_client, *to_server_, verdicts_.of_server, server_);
            listen(server_, *to_server_, verdicts_.of_server, *to_client_, verdicts_.of_client, client_);
        }
        return verdicts_;
    }
    std::size_t handed_on() const noexcept { return handed_on_; }

  private:
    static void tell(plexus::tls::Greeting& to, const plexus::tls::Block& block, std::int32_t& verdict) {
        Said words(block.size());
        if (!block.empty()) std::memcpy(words.data(), block.data(), block.size());
        if (verdict == PLEXUS_AGAIN) verdict = hear(to, words);
    }
    // Record by record, as a stream comes.
    void listen(plexus::tls::Greeting& from, plexus::tls::Engine& near, std::int32_t& verdict_of_from,
                plexus::tls::Engine& far, std::int32_t& verdict_of_to, plexus::tls::Greeting& to) {
        const Said words = from.take_outgoing();
        std::span<const std::byte> left = std::as_bytes(std::span(words));
        while (!left.empty()) {
            const std::size_t size = plexus::tls::record_size(left).value();
            plexus::tls::Block answer;
            bool& is_done = &near == to_client_.get() ? client_is_done_ : server_is_done_;
            if (!is_done) {
                is_done = near.shake(left.first(size), answer) == plexus::tls::Engine::Step::done;
                tell(from, answer, verdict_of_from);
            } else {
                std::array<std::byte, 1024> plain;
                near.arrived(left.first(size));
                const std::size_t got = near.read(plain).value_or(0);
                if (got > 0) {
                    ++handed_on_;
                    REQUIRE(far.write(std::span(plain).first(got), answer));
                    tell(to, answer, verdict_of_to);
                }
            }
            left = left.subspan(size);
        }
    }

    plexus::tls::Greeting& client_;
    plexus::tls::Greeting& server_;
    const std::unique_ptr<plexus::tls::Engine> to_client_;
    const std::unique_ptr<plexus::tls::Engine> to_server_;
    bool client_is_done_ = false;
    bool server_is_done_ = false;
    Verdicts verdicts_;
    std::size_t handed_on_ = 0;
};

} // namespace

TEST_CASE("openssl s_client completes a handshake with a certificate, and is no context for that") {
    if (std::getenv("TESTED_OPENSSL") == nullptr) SKIP_TEST("the program openssl is not installed");
    const TmpDir folder;
    Authority authority(folder, "authority");
    BareHost host(method_of(plexus_passport), impatient(authority.settings(authority.sign("good.example"))));
    Words words = files_of(authority, authority.sign("client.example"));
    words.insert(words.end(), {"-verify_hostname", "good.example"});
    const std::string said = s_client(host, folder, words);
    CAPTURE(said);
    CHECK(contains(said, "Protocol version: TLSv1.3"));
    CHECK(contains(said, "Verification: OK"));
    CHECK(host.incoming_count() == 0);
    CHECK(lines_with(host, "debug: a connection from 127.0.0.1:") == 1);
    CHECK(lines_with(host, "silent for longer than handshake_timeout") == 1);
}

TEST_CASE("openssl s_client is refused with the reason: another authority, ended, revoked, no name, no "
          "certificate, TLS 1.2, another key") {
    if (std::getenv("TESTED_OPENSSL") == nullptr) SKIP_TEST("the program openssl is not installed");
    const TmpDir folder;
    Authority authority(folder, "authority");
    Authority stranger(folder, "stranger");
    const Authority::Member revoked = authority.sign("good.example");
    Settings settings = authority.settings(authority.sign("good.example"));
    settings["crl"] = authority.revoke({revoked});
    settings["names"] = "good.example";
    const auto refused = [&](const Settings& of, const Words& words, const std::string& line,
                             const std::string& alert) {
        const auto expected = expect_warning("a connection from 127.0.0.1:");
        BareHost host(method_of(plexus_passport), impatient(of));
        const std::string said = s_client(host, folder, words);
        CAPTURE(said);
        CHECK(contains(said, alert));
        CHECK(host.incoming_count() == 0);
        REQUIRE(expected.count() == 1);
        CHECK(contains(expected.lines()[0], "was closed: no TLS: " + line));
        CHECK(host.log_lines().size() == 1);
    };
    refused(settings, files_of(authority, stranger.sign("good.example")),
            "the peer's certificate is refused: unable to get local issuer certificate", "alert unknown ca");
    refused(settings, files_of(authority, authority.sign("good.example", 0)),
            "the peer's certificate is refused: certificate has expired", "alert certificate expired");
    refused(settings, files_of(authority, revoked), "the peer's certificate is refused: certificate revoked",
            "alert certificate revoked");
    refused(settings, files_of(authority, authority.sign("other.example")),
            "the peer's certificate has none of the names allowed", "alert");
    refused(settings, {"-tls1_3", "-CAfile", authority.file()}, "the peer has no certificate",
            "alert certificate required");
    refused(settings, {"-tls1_2"}, "the peer speaks no TLS 1.3", "alert protocol version");
    refused({}, {"-tls1_3", "-psk_identity", "plexus job", "-psk", std::string(64, 'a')}, "", "alert");
}

TEST_CASE("openssl s_client with the job's key has a session under that key's own identity alone") {
    if (std::getenv("TESTED_OPENSSL") == nullptr) SKIP_TEST("the program openssl is not installed");
    const TmpDir folder;
    BareHost host(method_of(plexus_passport), impatient({}));
    std::string key;
    for (const std::uint8_t byte :
         plexus::module::proof_of(host.table(), "plexus tls 1 pre-shared key", 0, {})) {
        key += "0123456789abcdef"[byte / 16];
        key += "0123456789abcdef"[byte % 16];
    }
    const auto as = [&](const char* identity) {
        return s_client(
            host, folder,
            {"-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256", "-psk_identity", identity, "-psk", key});
    };
    const std::string known = as("plexus job");
    CAPTURE(known);
    CHECK(contains(known, "Protocol version: TLSv1.3"));
    const auto expected = expect_warning("a connection from 127.0.0.1:");
    for (const char* identity : {"plexus jo", "plexus jobs", "Client_identity", "plexus joB"}) {
        const std::string said = as(identity);
        CAPTURE(said);
        CHECK(contains(said, "alert"));
        CHECK_FALSE(contains(said, "Protocol version: TLSv1.3"));
    }
    CHECK(expected.count() == 4);
    CHECK(host.incoming_count() == 0);
}

TEST_CASE("plain text, and records that no handshake begins with, are closed at once with a line") {
    const auto expected = expect_warning("a connection from 127.0.0.1:");
    BareHost host(method_of(plexus_passport), impatient({}));
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const std::vector<std::string> all{request, std::string(100'000, 'x'),
                                       std::string("\x16\x03\x01\xff\xff", 5),
                                       std::string("\x17\x03\x03\x00\x05plain", 10)};
    for (const std::string& words : all) {
        Plain plain(host);
        plain.send(words.data(), words.size());
        CHECK(pump({&host}, 900ms, [&] { return plain.is_closed(); })); // sooner than handshake_timeout
    }
    CHECK(expected.count() == all.size());
    CHECK(lines_with(host, "it does not speak TLS") == 3);
    CHECK(host.incoming_count() == 0);
}

TEST_CASE("the warnings that strangers can cause are bounded, the rest is told at the level debug") {
    const auto expected = expect_warning("a connection from 127.0.0.1:");
    BareHost host(method_of(plexus_passport), impatient({}));
    for (int i = 0; i < 40; ++i) {
        Plain plain(host);
        plain.send("hello", 5);
        CHECK(pump({&host}, 5s, [&] { return plain.is_closed(); }));
    }
    CHECK(expected.count() == 32);
    CHECK(lines_with(host, "it does not speak TLS") == 40);
}

TEST_CASE("half a handshake and silence end after handshake_timeout, and others come in meanwhile") {
    BareHost host(method_of(plexus_passport), impatient({}));
    BareHost peer(method_of(plexus_passport), impatient({}));
    plexus::tls::Options options = *plexus::tls::read_options(peer.table());
    plexus::tls::Credentials credentials(peer.table(), options);
    REQUIRE(credentials.load().empty());
    plexus::tls::Engine engine(credentials.make_session(true), 1 << 30);
    plexus::tls::Block hello;
    REQUIRE(engine.shake({}, hello) == plexus::tls::Engine::Step::going);
    Plain silent(host);
    Plain half(host);
    half.send(hello.data(), hello.size() / 2);
    Plain first(host); // the whole first message, and nothing after the answer
    first.send(hello.data(), hello.size());
    CHECK(link_up(peer, host) != nullptr);
    for (const Plain* plain : {&silent, &half, &first})
        CHECK(pump({&host, &peer}, 5s, [&] { return plain->is_closed(); }));
    CHECK(host.incoming_count() == 1);
    CHECK(lines_with(host, "silent for longer than handshake_timeout") == 3);
}

TEST_CASE("a crowd of strangers that say nothing is bounded, and keeps nobody out") {
    constexpr std::size_t kMost = plexus::stream_link::Listener::kMostStrangers;
    constexpr std::size_t kMore = 30;
    BareHost host(method_of(plexus_passport), impatient({{"handshake_timeout", "60 s"}}));
    std::vector<std::unique_ptr<Plain>> crowd;
    for (std::size_t i = 0; i < kMost + kMore; ++i) {
        crowd.push_back(std::make_unique<Plain>(host));
        if (i % 8 == 0) host.poll();
    }
    const auto closed = [&] {
        return static_cast<std::size_t>(
            std::count_if(crowd.begin(), crowd.end(), [](const auto& each) { return each->is_closed(); }));
    };
    CHECK(pump({&host}, 5s, [&] { return closed() == kMore; }));
    for (std::size_t i = 0; i < kMore; ++i) CHECK(crowd[i]->is_closed());
    BareHost peer(method_of(plexus_passport), impatient({}));
    CHECK(link_up(peer, host) != nullptr);
    CHECK(closed() <= kMore + 2);
}

TEST_CASE("a certificate without the job's key is no way in, nor the key of another job") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    const auto side = [&](std::uint8_t key, bool certified) {
        Settings settings = certified ? authority.settings(authority.sign("member.example")) : Settings{};
        settings["listen"] = "127.0.0.1"; // each address that refuses has a line
        return BareOptions{{}, {key}, std::move(settings)};
    };
    const bool certified = GENERATE(true, false);
    CAPTURE(certified);
    const auto expected = expect_warning("a connection from 127.0.0.1:");
    BareHost server(method_of(plexus_passport), side(1, certified));
    BareHost client(method_of(plexus_passport), side(2, certified));
    End* const end = client.connect(server.descriptor(), server.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&client, &server}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_DENIED);
    CHECK(server.incoming_count() == 0);
    CHECK(expected.count() == 1);
}

TEST_CASE("the limit of a message that the peer told holds, and blocks of large messages keep to it") {
    constexpr std::size_t kMost = 200'000;
    Pair pair(method_of(plexus_passport), impatient({}), impatient({{"max_message", std::to_string(kMost)}}));
    CHECK(pair.a.query(PLEXUS_QUERY_MAX_MESSAGE, pair.to_b) == kMost);
    CHECK(pair.a.send(*pair.to_b, std::make_shared<Bytes>(kMost + 1), 24, 2) == PLEXUS_TOO_LARGE);
    const Bytes message(kMost, std::byte{7});
    REQUIRE(pair.a.push(*pair.to_b, std::make_shared<Bytes>(message)));
    std::optional<Bytes> got;
    CHECK(pair.pump(10s, [&] { return (got = pair.to_a->take()).has_value(); }));
    CHECK(got == message);
}

TEST_CASE("options of the socket may be set while a link runs, those of the session may not") {
    Pair pair(method_of(plexus_passport), impatient({}), impatient({}));
    CHECK(pair.a.set(*pair.to_b, "nodelay", "false") == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "sndbuf", "64 KiB") == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "sndbuf", "much") == PLEXUS_BAD_ARGUMENT);
    CHECK(pair.a.set(*pair.to_b, "update_after", "1 MiB") == PLEXUS_UNSUPPORTED);
    CHECK(pair.a.set(*pair.to_b, "colour", "red") == PLEXUS_BAD_ARGUMENT);
}

TEST_CASE("two members greet each other in whatever pieces the bytes come") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    Speaker a(authority, authority.sign("a.example"), 7);
    Speaker b(authority, authority.sign("b.example"), 7);
    const auto client = a.greeting(b.host.id());
    const auto server = b.greeting(std::nullopt);
    const Verdicts said = greet(*client, *server);
    CHECK(said.of_client == PLEXUS_OK);
    CHECK(said.of_server == PLEXUS_OK);
    CHECK(std::memcmp(server->peer().bytes, a.host.id().bytes, sizeof(plexus_id::bytes)) == 0);
    const auto astray = a.greeting(a.host.id());
    const auto other = b.greeting(std::nullopt);
    const Verdicts wrong = greet(*astray, *other);
    CHECK(wrong.of_client == PLEXUS_WRONG_PEER);
    CHECK(wrong.of_server == PLEXUS_WRONG_PEER);
}

TEST_CASE("a member without the job's key who joins the sessions of two others is noticed") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    Speaker a(authority, authority.sign("a.example"), 7);
    Speaker b(authority, authority.sign("b.example"), 7);
    Speaker mallory(authority, authority.sign("m.example"), 9);
    const auto client = a.greeting(b.host.id());
    const auto server = b.greeting(std::nullopt);
    Middle middle(mallory, *client, *server);
    const Verdicts said = middle.carry();
    CHECK(middle.handed_on() > 0); // what the client said reached the server as it was
    CHECK(said.of_server == PLEXUS_DENIED);
    CHECK(said.of_client != PLEXUS_OK);
}

} // namespace own_socket_test
