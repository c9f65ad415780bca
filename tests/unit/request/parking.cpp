// SPDX-License-Identifier: BSD-3-Clause
// Requests that wait for room at their receiver, by links whose every event the test gives: what becomes of
// one that finds no memory, and of all of them at the end.
#include "request/dispatcher.h"
#include "support/limit.h"
#include "unit/transport/scripted.h"

#include <algorithm>
#include <new>
#include <optional>

namespace parking_test {

using namespace plexus;
using namespace plexus::testing;
using wire::Kind;

namespace {

constexpr std::size_t kQueue = std::size_t{96} << 20;
constexpr std::uint64_t kFirstCall = 30'000; ///< of those that wait

/// A context that serves a peer whose link takes no answer, so that its requests wait. All of them name a
/// request that was not declared: what begins is refused for that.
class Crowded {
  public:
    Crowded()
      : rig(options(), false, UINT64_MAX, 2, request::DispatcherOptions{1, kQueue, 100, no_deadline, {}})
      , link(rig.link_up(rig.one)) {
        rig.heard.serve(rig.transport);
        rig.one.deliver(link, rig.hello(1));
        rig.turns();
        rig.one.answer = PLEXUS_AGAIN;
        for (std::uint64_t call = 0; call < 20'000; ++call) rig.one.deliver(link, request(call));
        rig.turns();
        REQUIRE(server().parked() == 0);
        // Handlers would count their answers so.
        request::ParkedRequests::answered(request::requests_of(*rig.peer).parked, kQueue);
        rig.one.deliver(link, request(kFirstCall));
        rig.turns();
        REQUIRE(server().parked() == 1);
    }

    request::Server& server() { return rig.heard.server(); }
    /// A call, or a one-way request.
    static wire::Bytes request(std::optional<std::uint64_t> call, std::size_t bytes = 64) {
        wire::Bytes frame(bytes);
        wire::RequestHeader header;
        header.request = 7;
        header.flags = call ? wire::kWantsReply : 0;
        header.call = call.value_or(0);
        wire::encode(header, frame.data());
        return frame;
    }
    /// Answers leave from now on.
    void let_go() {
        rig.one.answer = PLEXUS_OK;
        rig.one.writable(link);
        REQUIRE(is_over());
    }
    /// In time no request waits any more.
    bool is_over() {
        return eventually(std::chrono::seconds(20), [&] {
            rig.turns();
            return server().parked() == 0;
        });
    }
    /// So many one-way requests come, and wait behind the call.
    void park(std::size_t many) {
        for (std::size_t i = 0; i < many; ++i) rig.one.deliver(link, request({}));
        rig.turns();
        REQUIRE(server().parked() == many + 1);
    }
    std::string text_of(const wire::Bytes& frame, std::size_t head) const {
        return {reinterpret_cast<const char*>(frame.data()) + head, frame.size() - head};
    }
    /// Status and sentence of the answer to a call.
    std::pair<Status, std::string> answer_to(std::uint64_t call) const {
        for (const wire::Bytes& each : rig.one.sent(link, Kind::reply))
            if (const auto header = wire::decode_reply(wire::View(each)); header->call == call)
                return {static_cast<Status>(header->status), text_of(each, wire::ReplyHeader::kBytes)};
        return {};
    }

    RigOf<request::Dispatcher> rig;
    ScriptedMethod::Link& link;

  private:
    static transport::EndpointOptions options() {
        transport::EndpointOptions options;
        options.handler_queue = kQueue;
        return options;
    }
};

} // namespace

TEST_CASE("a request that has to wait and finds no memory is refused in words, and the others are served") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    constexpr std::size_t kLarge = std::size_t{72} << 20; // more than the C library keeps for a thread
    const auto logged = expect_warning("has no memory for a request of 75497472 bytes that has to wait");
    Crowded context;
    for (const auto call : {std::optional(kFirstCall + 1), std::optional<std::uint64_t>()}) {
        context.rig.one.deliver(context.link, Crowded::request(call, kLarge));
        const Limit none(RLIMIT_AS, address_space() + kLarge / 4);
        context.rig.turns();
    }
    CHECK(context.server().parked() == 1);
    CHECK(logged.count() == 1);
    context.let_go();
    const auto refused = context.answer_to(kFirstCall + 1);
    CHECK(refused.first == Status::again);
    CHECK(refused.second.find("has no memory for a request of 75497472 bytes that has to wait") !=
          std::string::npos);
    const auto reports = context.rig.one.sent(context.link, Kind::report);
    REQUIRE(reports.size() == 1);
    CHECK(wire::decode_report(wire::View(reports[0]))->status == static_cast<std::uint16_t>(Status::again));
    CHECK(context.text_of(reports[0], wire::ReportHeader::kBytes) == refused.second);
    CHECK(context.answer_to(kFirstCall).first == Status::no_handler);
}

TEST_CASE("many requests that wait at the end are refused in several turns") {
    constexpr std::size_t kMany = 4'500;
    const auto logged = expect_warning("4501 accepted requests were refused");
    Crowded context;
    context.park(kMany);
    std::vector<std::size_t> seen{kMany + 1}; // how many wait, at each poll
    std::function<void()> look = [&] {
        seen.push_back(context.server().parked());
        context.rig.one.in_poll(look);
    };
    context.rig.one.in_poll(look);
    context.server().finish_handlers(context.rig.scheduler, std::chrono::steady_clock::now());
    CHECK(context.is_over()); // after its last word finish_handlers() waits no more
    context.rig.turns();
    seen.push_back(context.server().parked());
    for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i - 1] - seen[i] <= 1'000);
    look = [] {};
    context.let_go();
    CHECK(context.rig.one.sent(context.link, Kind::report).size() == kMany);
    CHECK(context.answer_to(kFirstCall).first == Status::closed);
}

TEST_CASE("a request that can't be refused at the end keeps no other from being refused") {
    const auto logged = expect_warning("could not be refused: std::bad_alloc");
    Crowded context;
    request::ParkedRequests parked(kQueue);
    request::ParkedRequests::Line line;
    const wire::Bytes frame = Crowded::request({});
    for (int i = 0; i < 5; ++i)
        REQUIRE(parked.add(line, context.rig.channel(context.rig.one), {}, wire::View(frame), nullptr));
    int refused = 0;
    const auto refuse = [&](request::ParkedRequests::Request&) {
        if (++refused == 2) throw std::bad_alloc();
    };
    CHECK(parked.give_up(refuse, 4) == 4);
    CHECK(refused == 4);
    CHECK(logged.count() == 1);
    CHECK(parked.give_up(refuse, 4) == 1);
    CHECK(parked.count() == 0);
}

TEST_CASE("a peer that is lost is told of no refusal at the end") {
    constexpr std::size_t kMany = 4'500;
    const auto logged = expect_warning("4501 accepted requests were refused");
    Crowded context;
    context.park(kMany);
    context.rig.one.connect = PLEXUS_BAD_ARGUMENT;
    context.rig.two.connect = PLEXUS_BAD_ARGUMENT;
    std::function<void()> look = [&] { // loses the peer when some are refused, and their reports wait
        if (context.server().parked() <= kMany) return context.rig.one.lose(context.link, PLEXUS_PEER_LOST);
        context.rig.one.in_poll(look);
    };
    context.rig.one.in_poll(look);
    context.server().finish_handlers(context.rig.scheduler, std::chrono::steady_clock::now());
    CHECK(context.is_over());
    REQUIRE(context.rig.peer->presence() == transport::Presence::lost);
    CHECK(context.rig.peer->dropped.now().reports > 0); // those that waited
    CHECK(context.rig.peer->dropped.now().reports < kMany - 1'000);
}

} // namespace parking_test
