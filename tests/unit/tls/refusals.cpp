// SPDX-License-Identifier: BSD-3-Clause
// Who is refused, on which side, and what is said about it.
#include "authority.h"
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <filesystem>

namespace refusals_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;
using Settings = std::map<std::string, std::string>;

namespace {

/// Who calls with `client` a context with `server`: what the caller is told; empty: the link is open.
std::string told(const Settings& client, const Settings& server, std::size_t* known_to_server = nullptr) {
    BareHost b(method_of(plexus_passport), with(server));
    BareHost a(method_of(plexus_passport), with(client));
    End* const end = a.connect(b.descriptor(), b.id());
    if (end == nullptr) return "not begun";
    if (!pump({&a, &b}, 10s, [&] { return end->is_open() || end->is_lost(); }))
        return "neither open nor lost";
    if (known_to_server != nullptr) *known_to_server = b.incoming_count();
    if (end->is_open()) return {};
    CHECK_FALSE(end->is_opened());
    CHECK(end->lost_status() == PLEXUS_DENIED);
    return end->lost_why();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The server refuses the client: what each of them says.
void refuses_client(const Settings& client, const Settings& server, const std::string& said,
                    const std::string& heard) {
    const auto expected = expect_warning(said);
    std::size_t known = 1;
    const std::string why = told(client, server, &known);
    CHECK(known == 0);
    CAPTURE(why);
    CHECK(contains(why, heard));
    REQUIRE(expected.count() == 1);
    CHECK(expected.lines()[0].find('\n') == std::string::npos);
}

/// The client refuses the server.
void refuses_server(const Settings& client, const Settings& server, const std::string& said,
                    const std::string& heard) {
    const auto expected = expect_warning(heard);
    std::size_t known = 1;
    const std::string why = told(client, server, &known);
    CHECK(known == 0);
    CAPTURE(why);
    CHECK(contains(why, said));
}

/// Over this method; over none: on connections of its own, at one address, since each address that refuses
/// has a line.
Settings settings_of(const char* over, const Authority& authority, const Authority::Member& member) {
    Settings settings = authority.settings(member);
    settings["over"] = over;
    if (*over == '\0') settings["listen"] = "127.0.0.1";
    return settings;
}

Settings plus(Settings settings, const std::string& key, const std::string& value) {
    settings[key] = value;
    return settings;
}

enum class Outcome : std::uint8_t { neither, open, lost };

/// What becomes of a link between them.
Outcome outcome(BareHost& client, BareHost& server) {
    End* const end = client.connect(server.descriptor(), server.id());
    if (end == nullptr) return Outcome::neither;
    pump({&client, &server}, 10s, [&] { return end->is_open() || end->is_lost(); });
    return end->is_open() ? Outcome::open : end->is_lost() ? Outcome::lost : Outcome::neither;
}

} // namespace

TEST_CASE("certificates of another authority, ended, revoked or of other names are refused on either side") {
    const char* const over = GENERATE("", "tcp");
    CAPTURE(over);
    const TmpDir folder;
    Authority authority(folder, "authority");
    Authority stranger(folder, "stranger");
    const Authority::Member bad = authority.sign("bad.example");
    const Settings good =
        plus(settings_of(over, authority, authority.sign("good.example")), "crl", authority.revoke({bad}));
    CHECK(told(good, good).empty());

    // The stranger trusts the authority, but the authority's members do not trust the stranger.
    const Settings foreign =
        plus(settings_of(over, stranger, stranger.sign("good.example")), "ca", authority.file());
    refuses_client(foreign, good, "unable to get local issuer certificate", "the peer refused: unknown ca");
    refuses_server(good, foreign, "unable to get local issuer certificate", "the peer refused: unknown ca");

    const Settings ended = settings_of(over, authority, authority.sign("good.example", 0));
    refuses_client(ended, good, "certificate has expired", "the peer refused: certificate expired");
    refuses_server(good, ended, "certificate has expired", "the peer refused: certificate expired");

    refuses_client(settings_of(over, authority, bad), good, "certificate revoked",
                   "the peer refused: certificate revoked");
    refuses_server(good, settings_of(over, authority, bad), "certificate revoked",
                   "the peer refused: certificate revoked");

    const Settings chooses = plus(good, "names", "other.example, *.elsewhere.example");
    refuses_client(good, chooses, "has none of the names allowed", "the peer refused: ");
    refuses_server(chooses, good, "has none of the names allowed", "the peer refused: ");
    refuses_server(plus(good, "names", "*.good.example"), good, "has none of the names allowed",
                   "the peer refused: ");
    for (const char* names : {"other.example,good.example", "good.example,other.example", "*.example"})
        CHECK(told(good, plus(good, "names", names)).empty());
}

TEST_CASE("a member of an authority that was revoked itself is refused") {
    const char* const over = GENERATE("", "tcp");
    CAPTURE(over);
    const TmpDir folder;
    Authority first(folder, "first");
    Authority branch(folder, "branch", first);
    const Settings far = plus(settings_of(over, branch, branch.sign("far.example")), "ca", first.file());
    const std::string of_branch = text_of(branch.revoke({}));
    const auto near = [&](const std::vector<Authority::Member>& revoked) {
        const auto lists = folder.file("lists.crl", text_of(first.revoke(revoked)) + of_branch);
        return plus(settings_of(over, first, first.sign("near.example")), "crl", lists.string());
    };
    CHECK(told(far, near({})).empty());
    const Settings strict = near({branch.self()});
    refuses_client(far, strict, "certificate revoked", "the peer refused: certificate revoked");
    refuses_server(strict, far, "certificate revoked", "the peer refused: certificate revoked");
}

TEST_CASE("the job's key is no way in where certificates are asked for, nor the other way round") {
    const char* const over = GENERATE("", "tcp");
    CAPTURE(over);
    const TmpDir folder;
    Authority authority(folder, "authority");
    const Settings certified = settings_of(over, authority, authority.sign("good.example"));
    const Settings by_key{{"over", over}, {"listen", "127.0.0.1"}};
    CHECK(told(by_key, by_key).empty());
    const auto expected = expect_warning("no TLS");
    CHECK_FALSE(told(by_key, certified).empty());
    CHECK_FALSE(told(certified, by_key).empty());
    CHECK(expected.count() == 2);
}

TEST_CASE("a message that the peer's inner method does not take is refused before it is sent") {
    const std::size_t most = GENERATE(std::size_t{20'000}, std::size_t{100'000}, std::size_t{3'000'000});
    CAPTURE(most);
    Pair pair(method_of(plexus_passport), with({{"over", "tcp"}}),
              with({{"over", "tcp"}, {"tcp.max_message", std::to_string(most)}}));
    CHECK(pair.a.query(PLEXUS_QUERY_MAX_MESSAGE, pair.to_b) == most);
    CHECK(pair.a.send(*pair.to_b, std::make_shared<Bytes>(most + 1), 24, 2) == PLEXUS_TOO_LARGE);
    const Bytes message(most, std::byte{7});
    for (int i = 0; i < 2; ++i) {
        REQUIRE(pair.a.push(*pair.to_b, std::make_shared<Bytes>(message)));
        std::optional<Bytes> got;
        CHECK(pair.pump(10s, [&] { return (got = pair.to_a->take()).has_value(); }));
        CHECK(got == message);
    }
}

TEST_CASE("an inner method that takes no record is refused when the method opens") {
    const auto expected = expect_warning("");
    try {
        BareHost host(method_of(plexus_passport), with({{"over", "tcp"}, {"tcp.max_message", "16384"}}));
        FAIL("it opened");
    } catch (const OpenFailed& failed) {
        CHECK(failed.status == PLEXUS_UNSUPPORTED);
        REQUIRE_FALSE(failed.log.empty());
        CHECK(contains(failed.log.back(), "which a record of TLS takes"));
    }
}

TEST_CASE("certificates that are replaced count for new links, bad ones do not") {
    const char* const over = GENERATE("", "tcp");
    CAPTURE(over);
    const TmpDir folder;
    Authority first(folder, "first");
    Authority second(folder, "second");
    const Authority::Member one = first.sign("member.example");
    const std::string ca = folder / "ca.pem";
    std::filesystem::copy_file(first.file(), ca);
    BareHost server(method_of(plexus_passport), with(plus(settings_of(over, first, one), "ca", ca)));
    BareHost old(method_of(plexus_passport), with(settings_of(over, first, first.sign("member.example"))));
    // Trusts the first authority, is of the second.
    BareHost young(method_of(plexus_passport),
                   with(plus(settings_of(over, second, second.sign("member.example")), "ca", first.file())));
    End* const kept = link_up(old, server);
    REQUIRE(kept != nullptr);

    const auto refused = [&](BareHost& from) {
        End* const end = from.connect(server.descriptor(), server.id());
        return end != nullptr &&
               pump({&from, &server}, 10s, [&] { return end->is_open() || end->is_lost(); }) &&
               end->is_lost();
    };
    const auto expected = expect_warning("");
    CHECK(refused(young));
    const auto replace = [&](const std::string& text) {
        std::filesystem::rename(folder.file("next.pem", text), ca);
        std::this_thread::sleep_for(1100ms); // files are looked at once a second
    };
    replace("no certificate");
    CHECK(refused(young));
    CHECK_FALSE(refused(old));
    std::ifstream in(second.file());
    replace(std::string(std::istreambuf_iterator<char>(in), {}));
    CHECK_FALSE(refused(young));
    CHECK(refused(old));
    CHECK(kept->is_open()); // a link that is up stays
    bool told_bad = false;
    bool told_new = false;
    for (const std::string& line : server.log_lines()) {
        told_bad = told_bad || contains(line, "those from before count");
        told_new = told_new || contains(line, "new links use the new ones");
        CHECK_FALSE(contains(line, "PRIVATE"));
    }
    CHECK(told_bad);
    CHECK(told_new);
}

TEST_CASE("a new list of those who were revoked counts for new links") {
    const TmpDir folder;
    Authority authority(folder, "authority");
    const Authority::Member bad = authority.sign("bad.example");
    const std::string lists = folder.file("lists.crl", text_of(authority.revoke({})));
    BareHost server(method_of(plexus_passport),
                    with(plus(settings_of("", authority, authority.sign("good.example")), "crl", lists)));
    BareHost client(method_of(plexus_passport), with(settings_of("", authority, bad)));
    const auto refused = [&] { return outcome(client, server) == Outcome::lost; };
    CHECK_FALSE(refused());
    const auto expected = expect_warning("certificate revoked");
    folder.file("lists.crl", text_of(authority.revoke({bad})));
    CHECK(eventually(10s, refused)); // files are looked at once a second
}

TEST_CASE("a file that is overwritten by one of the same size counts for new links") {
    const TmpDir folder;
    Authority first(folder, "first");
    Authority second(folder, "second");
    const auto padded = [](const Authority& authority) {
        std::string text = text_of(authority.file());
        text.resize(4096, '\n');
        return text;
    };
    const std::string ca = folder.file("ca.pem", padded(first));
    BareHost server(method_of(plexus_passport),
                    with(plus(settings_of("", first, first.sign("member.example")), "ca", ca)));
    BareHost young(method_of(plexus_passport),
                   with(plus(settings_of("", second, second.sign("member.example")), "ca", first.file())));
    const auto taken = [&] { return outcome(young, server) == Outcome::open; };
    const auto expected = expect_warning("unable to get local issuer certificate");
    CHECK_FALSE(taken());
    folder.file("ca.pem", padded(second));
    CHECK(eventually(10s, taken)); // files are looked at once a second
}

TEST_CASE("files that could not be used for a while are read again, and the log says so once") {
    const TmpDir folder;
    Authority first(folder, "first");
    Authority second(folder, "second");
    const std::string ca = folder.file("ca.pem", text_of(first.file()));
    BareHost server(method_of(plexus_passport),
                    with(plus(settings_of("", first, first.sign("member.example")), "ca", ca)));
    BareHost young(method_of(plexus_passport),
                   with(plus(settings_of("", second, second.sign("member.example")), "ca", first.file())));
    const auto refused = [&] {
        std::this_thread::sleep_for(1100ms); // files are looked at once a second
        End* const end = young.connect(server.descriptor(), server.id());
        return end != nullptr &&
               pump({&young, &server}, 10s, [&] { return end->is_open() || end->is_lost(); }) &&
               end->is_lost();
    };
    const auto expected = expect_warning("");
    // The same file, of the same size and time: as if it had been there, and no descriptor to read it.
    const std::string good = text_of(second.file());
    folder.file("ca.pem", std::string(good.size(), ' '));
    const auto time = std::filesystem::last_write_time(ca);
    CHECK(refused());
    CHECK(refused());
    folder.file("ca.pem", good);
    std::filesystem::last_write_time(ca, time);
    CHECK_FALSE(refused());
    int told_bad = 0;
    for (const std::string& line : server.log_lines()) told_bad += contains(line, "those from before count");
    CHECK(told_bad == 1);
}

} // namespace refusals_test
