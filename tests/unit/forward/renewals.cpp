// SPDX-License-Identifier: BSD-3-Clause
// Who relays now where a forwarder was lost: what directories say, which rows it holds for, and for how long.
#include "forward/renewals.h"

#include "bootstrap/directory.h"
#include "forward/hub.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <memory>

namespace renewals_test {

using namespace plexus;
using namespace plexus::forward;
using namespace plexus::testing;
using Clock = std::chrono::steady_clock;

namespace {

ContextId context(std::uint8_t digit) {
    ContextId id;
    id.bytes.fill(digit);
    return id;
}

const ContextId kTarget = context(70);

Via gate(std::uint8_t digit, std::string url = {}) {
    Via via;
    via.name = "gate";
    via.url = std::move(url);
    via.hub.context = context(digit);
    via.table.push_back({"wire", std::vector<std::byte>(20), {}});
    return via;
}

const bootstrap::Key& key() {
    static const bootstrap::Key made = bootstrap::random_key();
    return made;
}

/// A directory whose forwarder is this one.
class Address {
  public:
    Address() // nobody relays yet
      : server_(bootstrap::DirectoryServer::listen("plexus://127.0.0.1:0", key(), 1).value())
      , view_(server_->local()) {}
    explicit Address(std::uint8_t digit)
      : Address() {
        relay(digit);
    }
    std::string url() const { return server_->url(); }
    void relay(std::uint8_t digit) { view_->publish(Hub::kPublished, encode(gate(digit), 1024)).value(); }

  private:
    std::unique_ptr<bootstrap::DirectoryServer> server_;
    std::shared_ptr<bootstrap::Directory> view_;
};

/// What is answered next; a question is asked again as long as there is no answer.
std::vector<Renewals::Answer> answered(Renewals& renewals, std::uint8_t lost, const std::string& url) {
    std::vector<Renewals::Answer> answers;
    eventually(20s, [&] {
        renewals.ask(context(lost), url);
        answers = renewals.take();
        return !answers.empty();
    });
    return answers;
}

} // namespace

TEST_CASE("rows lead to whoever relays where their forwarder was found, until that is forgotten") {
    const Address here(2);
    Renewals renewals(key(), context(9));
    const Via row = gate(1, here.url());
    CHECK(&renewals.current(row, kTarget) == &row);
    const auto answers = answered(renewals, 1, here.url());
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].lost == context(1));
    CHECK(answers[0].now.hub.context == context(2));
    CHECK(answers[0].now.url == here.url());
    CHECK(renewals.current(row, kTarget).hub.context == context(2));
    const Via elsewhere = gate(1, "plexus://10.0.0.1:7000"); // a row that somebody else has written
    CHECK(&renewals.current(elsewhere, kTarget) == &elsewhere);
    const Via another = gate(3, here.url());
    CHECK(&renewals.current(another, kTarget) == &another);
    renewals.forget(context(1));
    CHECK(&renewals.current(row, kTarget) == &row);
}

TEST_CASE("rows of a forwarder that was started several times lead to the last, also in a circle") {
    Address here(2);
    Renewals renewals(key(), context(9));
    const Via first = gate(1, here.url());
    const Via second = gate(2, here.url());
    REQUIRE(answered(renewals, 1, here.url()).size() == 1);
    here.relay(3);
    REQUIRE(answered(renewals, 2, here.url()).size() == 1);
    CHECK(renewals.current(first, kTarget).hub.context == context(3));
    CHECK(renewals.current(second, kTarget).hub.context == context(3));
    here.relay(1);
    REQUIRE(answered(renewals, 3, here.url()).size() == 1);
    CHECK(renewals.current(first, kTarget).hub.context == context(1));
    CHECK(renewals.current(second, kTarget).hub.context == context(1));
}

TEST_CASE("nothing follows where the lost one relays itself, nobody does, or the own context") {
    const Address here(2);
    const Address own(9);
    Renewals renewals(key(), context(9));
    renewals.ask(context(2), here.url());
    renewals.ask(context(1), own.url());
    renewals.ask(context(1), "plexus://127.0.0.1:1");
    renewals.ask(context(1), "no url");
    renewals.ask(context(1), "");
    const auto answers = answered(renewals, 5, here.url()); // asked behind the others
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].lost == context(5));
    CHECK(renewals.take().empty());
}

TEST_CASE("the same is asked once a second, and no more than a few things at a time") {
    const Address here(2);
    Renewals renewals(key(), context(9));
    const auto start = Clock::now();
    std::size_t answers = answered(renewals, 1, here.url()).size();
    REQUIRE(answers == 1);
    do {
        renewals.ask(context(1), here.url());
        answers += renewals.take().size();
    } while (Clock::now() - start < 500ms);
    CHECK(answers <= 1 + static_cast<std::size_t>((Clock::now() - start) / 1s));
    for (std::uint8_t lost = 10; lost < 100; ++lost) renewals.ask(context(lost), here.url());
    std::size_t more = 0;
    CHECK_FALSE(eventually(500ms, [&] { return (more += renewals.take().size()) > 16; }));
    CHECK(more > 0);
}

TEST_CASE("where the forwarder that was found does not lead to a target, the row's own is used, in turn") {
    const Address here(2);
    Renewals renewals(key(), context(9));
    const Via row = gate(1, here.url());
    REQUIRE(answered(renewals, 1, here.url()).size() == 1);
    const ContextId refused = context(71);
    const auto leads_to = [&](const ContextId& target) { return renewals.current(row, target).hub.context; };
    for (int round = 0; round < 3; ++round) {
        renewals.doubt(row, refused, context(2));
        CHECK(leads_to(refused) == context(1));
        CHECK(leads_to(kTarget) == context(2)); // others go on as before
        renewals.doubt(row, refused, context(1));
        CHECK(leads_to(refused) == context(2));
        renewals.doubt(row, refused, {}); // nobody was reached
        CHECK(leads_to(refused) == context(1));
        renewals.doubt(row, refused, {});
        CHECK(leads_to(refused) == context(2));
    }
    renewals.doubt(row, kTarget, context(1)); // a link that had begun before
    CHECK(leads_to(kTarget) == context(2));
    for (std::uint8_t i = 100; i < 200; ++i) renewals.doubt(row, context(i), context(2));
    CHECK(leads_to(context(100)) == context(2)); // as many are remembered as may be
    CHECK(leads_to(context(199)) == context(1));
}

TEST_CASE("a link that a row did not open asks who relays now") {
    const Address here(2);
    Renewals renewals(key(), context(9));
    renewals.doubt(gate(1, here.url()), kTarget, context(1));
    std::vector<Renewals::Answer> answers;
    CHECK(eventually(20s, [&] { return !(answers = renewals.take()).empty(); }));
    CHECK(answers.at(0).now.hub.context == context(2));
}

TEST_CASE("what is asked of a forwarder that is there again is forgotten") {
    const Address here(2);
    Renewals renewals(key(), context(9));
    renewals.ask(context(1), here.url());
    renewals.forget(context(1));
    const auto answers = answered(renewals, 5, here.url()); // asked behind it
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].lost == context(5));
}

TEST_CASE("an answer that comes when its forwarder is there again is forgotten") {
    Address here;
    Renewals renewals(key(), context(9));
    renewals.ask(context(1), here.url());
    // The question stands: it waits until somebody relays.
    CHECK_FALSE(eventually(100ms, [&] { return !renewals.take().empty(); }));
    renewals.forget(context(1));
    here.relay(2);
    const auto answers = answered(renewals, 5, here.url());
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].lost == context(5));
}

TEST_CASE("nothing is asked any more behind the end") {
    const Address here(2);
    Renewals renewals(key(), context(9));
    REQUIRE(answered(renewals, 1, here.url()).size() == 1);
    renewals.stop();
    renewals.ask(context(5), here.url());
    CHECK_FALSE(eventually(50ms, [&] { return !renewals.take().empty(); }));
    renewals.stop();
}

} // namespace renewals_test
