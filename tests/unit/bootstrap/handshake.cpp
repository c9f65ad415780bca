// SPDX-License-Identifier: BSD-3-Clause
// Which handshakes succeed, record by record, without a socket.
#include "bootstrap/handshake.h"
#include "support/catch.h"
#include "unit/bootstrap/waiting.h"

#include <cstring>

namespace entry_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;

namespace {

Bytes answer_to(ServerHandshake& server, const Bytes& hello) {
    return server.take_hello(std::span<const std::byte, kHelloBytes>(hello.data(), kHelloBytes));
}
Bytes confirm_to(ClientHandshake& client, const Bytes& answer) {
    return client.take_answer(std::span<const std::byte, kAnswerBytes>(answer.data(), kAnswerBytes));
}
bool accepts(const ServerHandshake& server, const Bytes& confirm) {
    return server.take_confirm(std::span<const std::byte, kConfirmBytes>(confirm.data(), kConfirmBytes));
}

} // namespace

TEST_CASE("two sides with the same key accept each other and know who the client is") {
    const Key key = random_key();
    const ContextId who = some_context();
    ClientHandshake client(key, who);
    ServerHandshake server(key);
    REQUIRE(client.hello().size() == kHelloBytes);
    const Bytes answer = answer_to(server, client.hello());
    REQUIRE(answer.size() == kAnswerBytes);
    CHECK(has_magic(answer));
    const Bytes confirm = confirm_to(client, answer);
    REQUIRE(confirm.size() == kConfirmBytes);
    CHECK(accepts(server, confirm));
    CHECK(server.client() == who);
}

TEST_CASE("a client with another key gets no answer") {
    const Key mine = random_key();
    const Key theirs = random_key();
    ServerHandshake server(mine);
    CHECK(answer_to(server, ClientHandshake(theirs, some_context()).hello()).empty());
}

TEST_CASE("no bit of a record may change") {
    const Key key = random_key();
    ClientHandshake client(key, some_context());
    ServerHandshake server(key);
    for (std::size_t at = 0; at < kHelloBytes; ++at) {
        Bytes hello = client.hello();
        hello[at] ^= std::byte{0x10};
        CHECK(answer_to(server, hello).empty());
    }
    const Bytes answer = answer_to(server, client.hello());
    for (std::size_t at = 0; at < kAnswerBytes; ++at) {
        Bytes changed = answer;
        changed[at] ^= std::byte{0x01};
        ClientHandshake copy = client;
        CHECK(confirm_to(copy, changed).empty());
    }
    const Bytes confirm = confirm_to(client, answer);
    for (std::size_t at = 0; at < kConfirmBytes; ++at) {
        Bytes changed = confirm;
        changed[at] ^= std::byte{0x80};
        CHECK_FALSE(accepts(server, changed));
    }
    CHECK(accepts(server, confirm));
}

TEST_CASE("a hello of another protocol gets no answer, also from a holder of the key") {
    const Key key = random_key();
    const ClientHandshake client(key, some_context());
    for (const std::byte changed : {std::byte{0}, std::byte{3}}) { // of the version
        Bytes hello(client.hello().begin(), client.hello().end() - 32);
        hello[kMagicBytes - 1] ^= changed;
        const Proof proof =
            prove(key, bytes_of(std::string("plexus directory hello\0", 23) + text_of(hello)));
        const auto bytes = std::as_bytes(std::span(proof));
        hello.insert(hello.end(), bytes.begin(), bytes.end());
        ServerHandshake server(key);
        CHECK(answer_to(server, hello).empty() == (changed != std::byte{0}));
    }
}

TEST_CASE("a recorded greeting played again cannot be confirmed") {
    const Key key = random_key();
    ClientHandshake client(key, some_context());
    ServerHandshake first(key);
    ServerHandshake second(key);
    const Bytes confirm = confirm_to(client, answer_to(first, client.hello()));
    REQUIRE(accepts(first, confirm));
    REQUIRE_FALSE(answer_to(second, client.hello()).empty());
    CHECK_FALSE(accepts(second, confirm));
}

TEST_CASE("a hello has the bytes that it always had, and proves for its purpose alone") {
    const Key key = random_key();
    const ContextId who = some_context();
    const ClientHandshake client(key, who);
    const std::span hello(client.hello());
    const Bytes head(hello.begin(), hello.begin() + kHelloBytes - 32);
    CHECK(text_of(head).starts_with(std::string("PLXSBOO\x01", 8)));
    CHECK(std::memcmp(head.data() + kMagicBytes, who.bytes.data(), who.bytes.size()) == 0);
    const Proof proof = prove(key, bytes_of(std::string("plexus directory hello\0", 23) + text_of(head)));
    CHECK(same_proof(std::as_bytes(std::span(proof)), hello.last<32>()));
}

} // namespace entry_test
