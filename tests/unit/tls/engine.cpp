// SPDX-License-Identifier: BSD-3-Clause
// Two engines that hand each other blocks: what an attacker between them can and can't do.
#include "tls/engine.h"
#include "authority.h"
#include "support/bare_host.h"
#include "support/catch.h"
#include "tls/credentials.h"

#include <algorithm>
#include <cstring>
#include <openssl/bio.h>
#include <openssl/ssl.h>

namespace engine_test {

using namespace plexus::testing;
using plexus::tls::Block;
using plexus::tls::Credentials;
using plexus::tls::Engine;

extern "C" const plexus_passport plexus_passport;

namespace {

constexpr std::uint64_t kNoUpdate = std::uint64_t{1} << 40;

/// Credentials of a context whose job has this key.
struct Side {
    explicit Side(std::uint8_t key, std::map<std::string, std::string> settings = {{"over", "tcp"}})
      : host(method_of(plexus_passport), {{}, {key}, settings})
      , options(*plexus::tls::read_options(host.table()))
      , credentials(host.table(), options) {
        if (const std::string why = credentials.load(); !why.empty()) throw std::runtime_error(why);
    }
    BareHost host;
    plexus::tls::Options options;
    Credentials credentials;
};

struct Both {
    Both(Side& a, Side& b, std::uint64_t update_after = kNoUpdate)
      : client(a.credentials.make_session(true), update_after)
      , server(b.credentials.make_session(false), update_after) {}

    /// Runs the handshake. True: both sides are done.
    bool shake() {
        Block to_server;
        Block to_client;
        auto at_client = client.shake({}, to_server);
        auto at_server = Engine::Step::going;
        for (int i = 0; i < 4 && !(to_server.empty() && to_client.empty()); ++i) {
            if (!to_server.empty()) at_server = server.shake(std::exchange(to_server, {}), to_client);
            if (!to_client.empty()) at_client = client.shake(std::exchange(to_client, {}), to_server);
        }
        return at_client == Engine::Step::done && at_server == Engine::Step::done;
    }

    Engine client;
    Engine server;
};

Block sealed(Engine& from, const std::string& text) {
    Block block;
    REQUIRE(from.write(std::as_bytes(std::span(text)), block));
    return block;
}

std::optional<std::string> opened(Engine& at, const Block& block) {
    std::string text(Engine::kRecord, '\0');
    at.arrived(block);
    const std::optional<std::size_t> size = at.read(std::as_writable_bytes(std::span(text)));
    if (!size) return std::nullopt;
    return text.substr(0, *size);
}

/// A client of the library's own, without an engine.
struct Library {
    explicit Library(Side& side)
      : session(side.credentials.make_session(true))
      , to_client(BIO_new(BIO_s_mem()))
      , to_server(BIO_new(BIO_s_mem())) {
        SSL_set_bio(session.get(), to_client, to_server);
    }
    Block said() {
        Block block(BIO_ctrl_pending(to_server));
        if (!block.empty()) BIO_read(to_server, block.data(), static_cast<int>(block.size()));
        return block;
    }
    void hear(const Block& block) { BIO_write(to_client, block.data(), static_cast<int>(block.size())); }
    bool shake(Engine& server) {
        auto step = Engine::Step::going;
        for (int i = 0; i < 4 && step == Engine::Step::going; ++i) {
            static_cast<void>(SSL_do_handshake(session.get()));
            Block answer;
            step = server.shake(said(), answer);
            hear(answer);
        }
        return step == Engine::Step::done;
    }
    void ask_for_keys() {
        REQUIRE(SSL_key_update(session.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
        REQUIRE(SSL_do_handshake(session.get()) == 1);
    }
    std::string read() {
        std::string text(Engine::kRecord, '\0');
        std::size_t size = 0;
        return SSL_read_ex(session.get(), text.data(), text.size(), &size) == 1 ? text.substr(0, size) : "";
    }

    const plexus::tls::Session session;
    BIO* const to_client; // the session's own
    BIO* const to_server;
};

/// The library as the peer of an engine: it may ask for new keys.
struct Asker {
    Asker() { REQUIRE(client.shake(server)); }

    Side a{7};
    Side b{7};
    Library client{a};
    Engine server{b.credentials.make_session(false), kNoUpdate};
};

} // namespace

TEST_CASE("two holders of the job's key have a session, with a value that no other session has") {
    Side a(7);
    Side b(7);
    Both first(a, b);
    REQUIRE(first.shake());
    const auto binding = first.client.binding();
    CHECK(binding.has_value());
    CHECK(binding == first.server.binding());
    Both second(a, b);
    REQUIRE(second.shake());
    CHECK(second.client.binding() != binding);
    const Block block = sealed(first.client, "temperature");
    CHECK(std::search(block.begin(), block.end(), reinterpret_cast<const std::byte*>("temperature"),
                      reinterpret_cast<const std::byte*>("temperature") + 11) == block.end());
    CHECK(opened(first.server, block) == "temperature");
    CHECK(first.server.is_read_up());
    CHECK(opened(first.client, sealed(first.server, "wind")) == "wind");
}

TEST_CASE("with another job's key there is no session, and both sides can say why") {
    Side a(7);
    Side b(8);
    Both both(a, b);
    CHECK_FALSE(both.shake());
    CHECK_FALSE(both.server.why().empty());
    CHECK(both.client.why().find("the peer refused: ") == 0);
}

TEST_CASE("a record that is changed, repeated, left out or cut is not read") {
    Side a(7);
    Side b(7);
    Both both(a, b);
    REQUIRE(both.shake());
    const Block first = sealed(both.client, "first");
    SECTION("changed") {
        Block changed = first;
        changed[changed.size() / 2] ^= std::byte{1};
        CHECK_FALSE(opened(both.server, changed).has_value());
        CHECK_FALSE(opened(both.server, first).has_value()); // the session is broken for good
    }
    SECTION("repeated") {
        CHECK(opened(both.server, first) == "first");
        CHECK_FALSE(opened(both.server, first).has_value());
    }
    SECTION("left out") { CHECK_FALSE(opened(both.server, sealed(both.client, "second")).has_value()); }
    SECTION("cut") {
        CHECK(opened(both.server, Block(first.begin(), first.end() - 1)) == "");
        CHECK_FALSE(both.server.is_read_up());
    }
    SECTION("sent back") { CHECK_FALSE(opened(both.client, first).has_value()); }
    CHECK((both.server.why().empty() || both.server.why().find('\n') == std::string::npos));
}

TEST_CASE("keys are updated on the way, and both directions go on") {
    Side a(7);
    Side b(7);
    Both both(a, b, 100);
    REQUIRE(both.shake());
    const std::string text(70, 'x');
    for (int i = 0; i < 50; ++i) {
        CHECK(opened(both.server, sealed(both.client, text)) == text);
        CHECK(opened(both.client, sealed(both.server, text)) == text);
    }
    // A block with an update holds one record more.
    const std::size_t plain = text.size() + Engine::kRecordCost;
    std::size_t updates = 0;
    for (int i = 0; i < 10; ++i) {
        const Block block = sealed(both.client, text);
        updates += block.size() > plain ? 1 : 0;
        CHECK(opened(both.server, block) == text);
    }
    CHECK(updates == 5);
}

TEST_CASE("small records wear a key by what each of them costs, not by their plain bytes alone") {
    Side a(7);
    Side b(7);
    Both both(a, b, 10'000);
    REQUIRE(both.shake());
    std::size_t updates = 0;
    for (int i = 0; i < 1000; ++i)
        updates += sealed(both.client, "a word..").size() > 8 + Engine::kRecordCost ? 1 : 0;
    CHECK(updates == 2);
}

TEST_CASE("a peer that asks for new keys has all answers before the next record, and reads on") {
    Asker asker;
    for (const std::string text : {"wind", "rain", "hail"}) {
        for (int i = 0; i < 3; ++i) { // the library answers some at once, and the last with the record
            asker.client.ask_for_keys();
            CHECK(opened(asker.server, asker.client.said()) == "");
        }
        asker.client.hear(sealed(asker.server, text));
        CHECK(asker.client.read() == text);
    }
    asker.client.hear(sealed(asker.server, "sun"));
    CHECK(asker.client.read() == "sun");
}

TEST_CASE("a peer that asks for new keys without end is given up before the answers fill the memory") {
    Asker asker;
    int asked = 0;
    for (; asked < 1000 && asker.server.why().empty(); ++asked) {
        asker.client.ask_for_keys();
        static_cast<void>(opened(asker.server, asker.client.said()));
    }
    CHECK(asked > 50); // a few are nobody's fault
    CHECK(asked < 500);
    CHECK(asker.server.why() == "the peer asks for new keys again and again");
}

TEST_CASE("a peer that speaks TLS 1.2 at most is refused") {
    Side b(7);
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
    SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    plexus::tls::Session old(SSL_new(context.get()));
    SSL_set_connect_state(old.get());
    Engine client(std::move(old), kNoUpdate);
    Engine server(b.credentials.make_session(false), kNoUpdate);
    Block hello;
    Block answer;
    CHECK(client.shake({}, hello) == Engine::Step::going);
    CHECK(server.shake(hello, answer) == Engine::Step::failed);
    CHECK(server.why() == "the peer speaks no TLS 1.3");
    CHECK(client.shake(answer, hello) == Engine::Step::failed);
}

TEST_CASE("bytes that are no TLS end the handshake") {
    Side b(7);
    for (const std::size_t size : {std::size_t{1}, std::size_t{5}, std::size_t{600}, std::size_t{100'000}}) {
        Engine server(b.credentials.make_session(false), kNoUpdate);
        Block answer;
        const Block noise(size, std::byte{0x5a});
        const Engine::Step step = server.shake(noise, answer);
        CHECK(step == (size < 5 ? Engine::Step::going : Engine::Step::failed));
    }
}

} // namespace engine_test
