// SPDX-License-Identifier: BSD-3-Clause
// A member of the job that holds the key and sends what it likes: it speaks the inner method alone.
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "tls/credentials.h"
#include "tls/engine.h"

#include <cstring>
#include <memory>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <utility>

namespace hostile_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;

namespace {

const BareOptions kByKey{{}, {1, 2, 3}, {{"over", "tcp"}, {"handshake_timeout", "300 ms"}}};

/// A victim over another method, and somebody who speaks that one to it.
struct Attack {
    explicit Attack(const BareOptions& options = kByKey)
      : victim(method_of(plexus_passport), options)
      , villain(find_method(options.settings.at("over"))) {
        Bytes inner = victim.descriptor();
        // Its name and a zero byte.
        inner.erase(inner.begin(), inner.begin() + options.settings.at("over").size() + 1);
        to_victim = villain.connect(inner, victim.id());
        if (to_victim == nullptr || !pump({&victim, &villain}, 10s, [&] { return to_victim->is_open(); }))
            throw std::runtime_error("no link to the victim");
    }
    /// The victim has dropped the link, and its host never heard of it; it knows of so many others.
    bool is_dropped(std::size_t others = 0) {
        return pump({&victim, &villain}, 10s, [&] { return to_victim->is_lost(); }) &&
               victim.incoming_count() == others;
    }

    BareHost victim;
    BareHost villain;
    End* to_victim = nullptr;
};

/// How a client of OpenSSL begins that speaks TLS 1.2 at most.
Bytes older_hello() {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                    SSL_CTX_free);
    SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context.get()), SSL_free);
    BIO* const out = BIO_new(BIO_s_mem());
    SSL_set_bio(session.get(), BIO_new(BIO_s_mem()), out);
    CHECK(SSL_connect(session.get()) != 1);
    Bytes hello(BIO_ctrl_pending(out));
    CHECK(BIO_read(out, hello.data(), static_cast<int>(hello.size())) == static_cast<int>(hello.size()));
    return hello;
}

/// How a context begins that holds another job's key.
Bytes hello_of_another_job() {
    const BareHost other(method_of(plexus_passport), {{}, {9}, {{"listen", "127.0.0.1"}}});
    const plexus::tls::Options options = *plexus::tls::read_options(other.table());
    plexus::tls::Credentials credentials(other.table(), options);
    REQUIRE(credentials.load().empty());
    plexus::tls::Engine engine(credentials.make_session(true), 1 << 30);
    plexus::tls::Block hello;
    REQUIRE(engine.shake({}, hello) == plexus::tls::Engine::Step::going);
    return {hello.begin(), hello.end()};
}

} // namespace

TEST_CASE(
    "a member of the inner method without the session's key, or of an older TLS, disturbs no other link") {
    const std::string over = GENERATE("tcp", "shm");
    const bool is_older = GENERATE(false, true);
    CAPTURE(over, is_older);
    const auto expected = expect_warning(is_older ? "the peer speaks no TLS 1.3" : "binder does not verify");
    const BareOptions by_key{{}, {1, 2, 3}, {{"over", over}, {"handshake_timeout", "20 s"}}};
    Attack attack(by_key);
    BareHost peer(method_of(plexus_passport), by_key);
    End* heard = nullptr;
    End* const honest = link_up(peer, attack.victim, &heard);
    REQUIRE(honest != nullptr);
    const auto call = [&] {
        const std::uint64_t before = heard->received();
        REQUIRE(peer.push(*honest, std::make_shared<Bytes>(5000, std::byte{3})));
        return pump({&peer, &attack.victim}, 10s, [&] { return heard->received() == before + 1; });
    };
    REQUIRE(call());
    attack.villain.push(*attack.to_victim,
                        std::make_shared<Bytes>(is_older ? older_hello() : hello_of_another_job()));
    CHECK(attack.is_dropped(1));
    CHECK(call());
    CHECK(honest->is_open());
    CHECK(expected.count() == 1);
}

TEST_CASE("what is no TLS gets no link, small or large") {
    const auto expected = expect_warning("no TLS with peer");
    const std::size_t size = GENERATE(std::size_t{5}, std::size_t{3000}, std::size_t{200'000});
    CAPTURE(size);
    Attack attack;
    const auto junk = std::make_shared<Bytes>(size, std::byte{0x41});
    attack.villain.push(*attack.to_victim, junk);
    CHECK(attack.is_dropped());
    CHECK(expected.count() == 1);
}

TEST_CASE("who has a session and does not prove at whose end of it it is gets no link") {
    const auto expected = expect_warning("another context answers in its place");
    Attack attack({{}, {1, 2, 3}, {{"over", "tcp"}, {"handshake_timeout", "20 s"}}});
    const BareHost self(method_of(plexus_passport), {{}, {1, 2, 3}, {{"listen", "127.0.0.1"}}});
    const plexus::tls::Options options = *plexus::tls::read_options(self.table());
    plexus::tls::Credentials credentials(self.table(), options);
    REQUIRE(credentials.load().empty());
    plexus::tls::Engine engine(credentials.make_session(true), 1 << 30);
    const auto say = [&](plexus::tls::Block& block) {
        if (!block.empty())
            attack.villain.push(*attack.to_victim, std::make_shared<Bytes>(std::exchange(block, {})));
    };
    plexus::tls::Block out;
    auto step = engine.shake({}, out);
    say(out);
    CHECK(pump({&attack.victim, &attack.villain}, 10s, [&] {
        for (auto got = attack.to_victim->take(); got; got = attack.to_victim->take()) {
            step = engine.shake(*got, out);
            say(out);
        }
        return step != plexus::tls::Engine::Step::going;
    }));
    REQUIRE(step == plexus::tls::Engine::Step::done);
    REQUIRE(engine.write(Bytes(32, std::byte{1}), out));
    say(out);
    CHECK(attack.is_dropped());
    CHECK(expected.count() == 1);
}

TEST_CASE("a block larger than any of the method is not taken into memory") {
    Attack attack;
    attack.villain.push(*attack.to_victim, std::make_shared<Bytes>(std::size_t{64} << 20));
    CHECK(attack.is_dropped());
}

TEST_CASE("who says nothing is dropped after handshake_timeout") {
    const auto expected = expect_warning("the handshake took longer than handshake_timeout");
    Attack attack;
    CHECK(attack.is_dropped());
    CHECK(expected.count() == 1);
}

TEST_CASE("who is answered by nothing is told after handshake_timeout") {
    BareHost caller(method_of(plexus_passport), kByKey);
    BareHost mute(find_method("tcp"));
    Bytes outer = mute.descriptor();
    const char prefix[] = "tcp";
    outer.insert(outer.begin(), reinterpret_cast<const std::byte*>(prefix),
                 reinterpret_cast<const std::byte*>(prefix) + sizeof prefix);
    End* const end = caller.connect(outer, mute.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&caller, &mute}, 10s, [&] { return end->is_lost(); }));
    CHECK_FALSE(end->is_opened());
    CHECK(end->lost_why().find("the handshake took longer than handshake_timeout") != std::string::npos);
}

} // namespace hostile_test
