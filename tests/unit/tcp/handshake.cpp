// SPDX-License-Identifier: BSD-3-Clause
// The handshake, record by record: who comes to terms, and what each side is told otherwise.
#include "plexus/module/handshake.h"

#include "support/bare_host.h"
#include "support/catch.h"

namespace handshake_test {

using namespace plexus::testing;
using plexus::module::Handshake;

namespace {

using Record = std::vector<std::uint8_t>;

constexpr std::size_t kVersionAt = 6; // of a hello; its low byte is the next
constexpr std::size_t kProof = 32;

/// A host that only proves and gives random bytes.
class Prover {
  public:
    explicit Prover(const JobKey& key = {1, 2, 3}) {
        BareOptions options;
        options.key = key;
        host_.emplace(find_method("tcp"), options);
        table = host_->table();
    }
    plexus_host table{};

  private:
    std::optional<BareHost> host_;
};

/// `record` with the proof that a holder of the key puts behind such bytes. `before`: what was said before.
Record proved(const plexus_host& host, std::string_view purpose, const Record& before, Record record) {
    Record text(purpose.begin(), purpose.end());
    text.push_back(0);
    text.insert(text.end(), before.begin(), before.end());
    text.insert(text.end(), record.begin(), record.end() - kProof);
    REQUIRE(host.hmac(host.self, {text.data(), text.size()}, &*(record.end() - kProof)) == PLEXUS_OK);
    return record;
}

} // namespace

TEST_CASE("two holders of one key come to terms, and each learns what the other takes") {
    Prover a;
    Prover b;
    auto near = Handshake::connecting(a.table, b.table.id, 1'000);
    auto far = Handshake::accepting(b.table, 0x0102030405060708);
    REQUIRE(far.feed(near.take_outgoing()) == PLEXUS_AGAIN);
    REQUIRE(near.feed(far.take_outgoing()) == PLEXUS_OK);
    REQUIRE(far.feed(near.take_outgoing()) == PLEXUS_OK);
    CHECK(near.peer_max_message() == 0x0102030405060708);
    CHECK(far.peer_max_message() == 1'000);
    CHECK(std::memcmp(far.peer().bytes, a.table.id.bytes, sizeof a.table.id.bytes) == 0);
    CHECK(near.wanted_bytes() == 0);
    CHECK(far.wanted_bytes() == 0);
}

TEST_CASE("one changed bit in any record ends the handshake without a word") {
    Prover a;
    Prover b;
    for (std::size_t at = 0; at < Handshake::kHelloBytes; ++at) {
        auto near = Handshake::connecting(a.table, b.table.id);
        auto far = Handshake::accepting(b.table);
        Record hello = near.take_outgoing();
        hello[at] ^= 1;
        CHECK(far.feed(hello) == PLEXUS_DENIED);
        CHECK(far.take_outgoing().empty());
    }
    for (std::size_t at = 0; at < Handshake::kAnswerBytes; ++at) {
        auto near = Handshake::connecting(a.table, b.table.id);
        auto far = Handshake::accepting(b.table);
        REQUIRE(far.feed(near.take_outgoing()) == PLEXUS_AGAIN);
        Record answer = far.take_outgoing();
        answer[at] ^= 1;
        CHECK(near.feed(answer) == PLEXUS_DENIED);
        CHECK(near.take_outgoing().empty());
    }
}

TEST_CASE("the side that accepts refuses who looks for another context, and says so") {
    Prover a;
    Prover b;
    auto near = Handshake::connecting(a.table, random_id());
    auto far = Handshake::accepting(b.table);
    CHECK(far.feed(near.take_outgoing()) == PLEXUS_WRONG_PEER);
    CHECK(far.wanted_bytes() == 0);
    CHECK(near.feed(far.take_outgoing()) == PLEXUS_WRONG_PEER);
    CHECK(near.take_outgoing().empty());
}

TEST_CASE("an answer that accepts in the name of another context is refused") {
    Prover a;
    Prover b;
    auto near = Handshake::connecting(a.table, b.table.id);
    const Record hello = near.take_outgoing();
    auto far = Handshake::accepting(b.table);
    REQUIRE(far.feed(hello) == PLEXUS_AGAIN);
    Record answer = far.take_outgoing();
    answer[3] ^= 1; // who it says it is
    CHECK(near.feed(proved(b.table, "plexus answer", hello, answer)) == PLEXUS_WRONG_PEER);
    CHECK(near.take_outgoing().empty());
}

TEST_CASE("a version that is not ours is told as such, by both sides, to holders of the key only") {
    Prover a;
    Prover b;
    auto near = Handshake::connecting(a.table, b.table.id);
    Record hello = near.take_outgoing();
    hello[kVersionAt] = 7;
    auto far = Handshake::accepting(b.table);
    CHECK(far.feed(proved(a.table, "plexus hello", {}, hello)) == PLEXUS_UNSUPPORTED);
    CHECK(far.peer_version() == 7 * 256 + Handshake::kVersion);
    const Record answer = far.take_outgoing();
    CHECK(answer.size() == Handshake::kAnswerBytes);

    auto other = Handshake::connecting(a.table, b.table.id);
    const Record said = other.take_outgoing();
    auto old = Handshake::accepting(b.table);
    REQUIRE(old.feed(said) == PLEXUS_AGAIN);
    Record refusal = old.take_outgoing();
    refusal[0] = 2;
    refusal[1] = 9;
    CHECK(other.feed(proved(b.table, "plexus answer", said, refusal)) == PLEXUS_UNSUPPORTED);
    CHECK(other.peer_version() == 9 * 256 + Handshake::kVersion);
    CHECK(other.take_outgoing().empty());
}

TEST_CASE("a host that can't prove anything comes to terms with nobody, not even with its like") {
    Prover a;
    Prover b;
    for (Prover* each : {&a, &b})
        each->table.hmac = [](void*, plexus_view, std::uint8_t*) -> std::int32_t {
            return PLEXUS_UNSUPPORTED;
        };
    auto near = Handshake::connecting(a.table, b.table.id);
    auto far = Handshake::accepting(b.table);
    CHECK(far.feed(near.take_outgoing()) == PLEXUS_DENIED);
}

TEST_CASE("holders of different keys do not come to terms") {
    Prover a({1});
    Prover b({2});
    auto near = Handshake::connecting(a.table, b.table.id);
    auto far = Handshake::accepting(b.table);
    CHECK(far.feed(near.take_outgoing()) == PLEXUS_DENIED);
    CHECK(far.take_outgoing().empty());
}

TEST_CASE("a record of another size, and one after the end, are refused") {
    Prover a;
    Prover b;
    auto near = Handshake::connecting(a.table, b.table.id);
    auto far = Handshake::accepting(b.table);
    CHECK(far.feed(Record(5)) == PLEXUS_BAD_ARGUMENT);
    CHECK(far.feed(near.take_outgoing()) == PLEXUS_AGAIN);
    CHECK(far.feed(Record(Handshake::kConfirmBytes)) == PLEXUS_DENIED);
    CHECK(far.feed({}) == PLEXUS_BAD_ARGUMENT);
}

} // namespace handshake_test
