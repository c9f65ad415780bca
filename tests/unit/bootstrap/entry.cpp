// SPDX-License-Identifier: BSD-3-Clause
// Who is let in, record by record, without a socket.
#include "bootstrap/entry.h"
#include "support/catch.h"
#include "unit/bootstrap/waiting.h"

#include <cstring>

namespace entry_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;

namespace {

Bytes answer_to(Host& host, const Bytes& hello) {
    return host.take_hello(std::span<const std::byte, kHelloBytes>(hello.data(), kHelloBytes));
}
Bytes confirm_to(Guest& guest, const Bytes& answer) {
    return guest.take_answer(std::span<const std::byte, kAnswerBytes>(answer.data(), kAnswerBytes));
}
bool lets_in(const Host& host, const Bytes& confirm) {
    return host.take_confirm(std::span<const std::byte, kConfirmBytes>(confirm.data(), kConfirmBytes));
}

} // namespace

TEST_CASE("two sides with the same key let each other in and know who came") {
    const Key key = random_key();
    const ContextId who = some_context();
    Guest guest(key, who);
    Host host(key);
    REQUIRE(guest.hello().size() == kHelloBytes);
    const Bytes answer = answer_to(host, guest.hello());
    REQUIRE(answer.size() == kAnswerBytes);
    CHECK(has_magic(answer));
    const Bytes confirm = confirm_to(guest, answer);
    REQUIRE(confirm.size() == kConfirmBytes);
    CHECK(lets_in(host, confirm));
    CHECK(host.guest() == who);
}

TEST_CASE("a guest with another key gets no answer") {
    const Key mine = random_key();
    const Key theirs = random_key();
    Host host(mine);
    CHECK(answer_to(host, Guest(theirs, some_context()).hello()).empty());
}

TEST_CASE("no bit of a record may change") {
    const Key key = random_key();
    Guest guest(key, some_context());
    Host host(key);
    for (std::size_t at = 0; at < kHelloBytes; ++at) {
        Bytes hello = guest.hello();
        hello[at] ^= std::byte{0x10};
        CHECK(answer_to(host, hello).empty());
    }
    const Bytes answer = answer_to(host, guest.hello());
    for (std::size_t at = 0; at < kAnswerBytes; ++at) {
        Bytes changed = answer;
        changed[at] ^= std::byte{0x01};
        Guest copy = guest;
        CHECK(confirm_to(copy, changed).empty());
    }
    const Bytes confirm = confirm_to(guest, answer);
    for (std::size_t at = 0; at < kConfirmBytes; ++at) {
        Bytes changed = confirm;
        changed[at] ^= std::byte{0x80};
        CHECK_FALSE(lets_in(host, changed));
    }
    CHECK(lets_in(host, confirm));
}

TEST_CASE("a recorded greeting played again cannot be confirmed") {
    const Key key = random_key();
    Guest guest(key, some_context());
    Host first(key);
    Host second(key);
    const Bytes confirm = confirm_to(guest, answer_to(first, guest.hello()));
    REQUIRE(lets_in(first, confirm));
    REQUIRE_FALSE(answer_to(second, guest.hello()).empty());
    CHECK_FALSE(lets_in(second, confirm));
}

TEST_CASE("a hello has the bytes that it always had, and proves for its purpose alone") {
    const Key key = random_key();
    const ContextId who = some_context();
    const Guest guest(key, who);
    const std::span hello(guest.hello());
    const Bytes head(hello.begin(), hello.begin() + kHelloBytes - 32);
    CHECK(text_of(head).starts_with(std::string("PLXSBOO\x01", 8)));
    CHECK(std::memcmp(head.data() + kMagicBytes, who.bytes.data(), who.bytes.size()) == 0);
    const Proof proof = prove(key, bytes_of(std::string("plexus directory hello\0", 23) + text_of(head)));
    CHECK(same_proof(std::as_bytes(std::span(proof)), hello.last<32>()));
}

} // namespace entry_test
