// SPDX-License-Identifier: BSD-3-Clause
// Members that say and hear hops by hand, and a forwarder between them: its rules, one by one. Only the
// test's thread makes progress for them.
#include "sites.h"

#include "base/crypto.h"
#include "context/core.h"
#include "forward/hop.h"
#include "forward/hub.h"
#include "plexus/module/handshake.h"

#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <thread>

namespace forward_by_hand_test {

using namespace plexus;
using namespace plexus::forward;
using namespace plexus::testing;

/// One hop, or the end of a link whose neighbour is lost.
struct Heard {
    LinkName link;
    Kind kind{}; ///< none: nothing came
    std::uint64_t number = 0;
    std::string text;

    bool ends_with(std::string_view part) const {
        return kind == Kind::close && text.find(part) != std::string::npos;
    }
};

class Speaker final : public Acceptor, public HopEnd {
  public:
    explicit Speaker(const Context& gate)
      : context_(behind(gate.url(), {{"progress.thread", "false"}}))
      , gate_(*hub().find(gate.id()))
      , instance_(hub().add(*this)) {}
    ~Speaker() override {
        hub().remove(instance_);
        for (const LinkName& link : links_) hub().unbind(link);
    }
    Speaker(const Speaker&) = delete;
    Speaker& operator=(const Speaker&) = delete;

    LinkName open(std::uint32_t number, const Speaker& to, std::uint64_t window = UINT64_MAX,
                  std::size_t hello = 0) {
        return open(number, to.context_.id(), to.instance_, window, std::vector<std::byte>(hello));
    }
    LinkName open(std::uint32_t number, const ContextId& to, std::uint8_t instance, std::uint64_t window,
                  std::span<const std::byte> hello) {
        const auto id = std::as_bytes(std::span(to.bytes));
        std::vector<std::byte> bytes(id.begin(), id.end());
        bytes.push_back(std::byte{instance});
        bytes.insert(bytes.end(), hello.begin(), hello.end());
        const LinkName link{&gate_, number, true};
        say(link, Kind::open, window, bytes);
        return link;
    }
    /// Also of a link that has ended here: what comes back is heard.
    void say(const LinkName& link, Kind kind, std::uint64_t number, std::span<const std::byte> bytes = {}) {
        bind(link);
        const auto sent =
            static_cast<std::uint8_t>(static_cast<std::uint8_t>(kind) | (link.mine ? 0 : kYours));
        gate_.pointer().send(kHop, sent, link.number, number, bytes);
    }
    void say(const LinkName& link, Kind kind, std::uint64_t number, std::size_t size) {
        say(link, kind, number, std::vector<std::byte>(size, std::byte{7}));
    }
    std::optional<Heard> hear() {
        context_.progress();
        if (heard_.empty()) return std::nullopt;
        Heard first = std::move(heard_.front());
        heard_.pop_front();
        return first;
    }
    Context& context() noexcept { return context_; }

    void accept(const LinkName& from, const Hop& open, const Destination&) override {
        bind(from);
        take(from, open);
    }
    void take(const LinkName& from, const Hop& hop) override {
        const auto* const text = reinterpret_cast<const char*>(hop.bytes.data());
        heard_.push_back({from, hop.kind, hop.number, {text, hop.bytes.size()}});
    }
    void cut(const LinkName& from, const std::string& why) override {
        heard_.push_back({from, Kind::close, 0, why});
    }
    const ContextId* far_end() const override { return nullptr; }

  private:
    Hub& hub() { return context_.core()->hub(); }
    void bind(const LinkName& link) {
        hub().bind(link, *this);
        links_.push_back(link);
    }

    std::deque<Heard> heard_;
    std::vector<LinkName> links_;
    Context context_;
    Neighbour& gate_;
    const std::uint8_t instance_;
};

/// A link as its two ends name it.
struct Ends {
    LinkName near;
    LinkName far;
};

struct Three {
    explicit Three(Values more = {})
      : gate(gate_options("gate", std::move(more)))
      , asking(gate) {
        asked.emplace(gate);
    }
    /// What one of them hears next.
    Heard next(Speaker& at) {
        Heard heard;
        eventually(kLimit, [&] {
            if (asked && &*asked != &at) asked->context().progress();
            if (&asking != &at) asking.context().progress();
            auto found = at.hear();
            if (found) heard = std::move(*found);
            return found.has_value();
        });
        return heard;
    }
    /// What it hears last of a link.
    Heard end(Speaker& at) {
        Heard heard = next(at);
        while (heard.kind != Kind{} && heard.kind != Kind::close) heard = next(at);
        return heard;
    }
    Ends asked_for(std::uint32_t number, std::uint64_t window = UINT64_MAX) {
        const LinkName near = asking.open(number, *asked, window);
        const Heard open = next(*asked);
        REQUIRE(open.kind == Kind::open);
        return {near, open.link};
    }
    Ends opened(std::uint32_t number, std::uint64_t window = UINT64_MAX) {
        const Ends ends = asked_for(number, window);
        asked->say(ends.far, Kind::opened, UINT64_MAX);
        REQUIRE(next(asking).kind == Kind::opened);
        return ends;
    }

    Context gate;
    Speaker asking;
    std::optional<Speaker> asked;
};

TEST_CASE(
    "the window of a relayed link is the smallest of its share of the memory and of what its ends want") {
    Three three({{"forward.memory", "8 MiB"}, {"forward.links", "4"}});
    constexpr std::uint64_t kShare = std::uint64_t{1} << 20; // in one direction
    three.asking.open(1, *three.asked);
    const Heard first = three.next(*three.asked);
    CHECK(first.number == kShare);
    three.asked->say(first.link, Kind::opened, UINT64_MAX);
    CHECK(three.next(three.asking).number == kShare);
    three.asking.open(2, *three.asked, 200'000);
    const Heard second = three.next(*three.asked);
    CHECK(second.number == 200'000);
    three.asked->say(second.link, Kind::opened, 150'000);
    CHECK(three.next(three.asking).number == 150'000);
}

TEST_CASE("whoever breaks the rules of a relayed link ends it, and both ends hear why") {
    const auto warned = expect_warning("broke the rules of relayed links");
    Three three;
    const auto deed = GENERATE(range(0, 12));
    CAPTURE(deed);
    const bool is_open = deed < 9;
    const Ends ends = is_open ? three.opened(1, kLeastWindow) : three.asked_for(1, kLeastWindow);
    const auto near = [&](Kind kind, std::uint64_t number, std::size_t size) {
        three.asking.say(ends.near, kind, number, size);
    };
    const auto far = [&](Kind kind, std::uint64_t number, std::size_t size) {
        three.asked->say(ends.far, kind, number, size);
    };
    const std::function<void()> deeds[] = {
        [&] { near(Kind::data, 0, kLeastWindow - kHopCost + 1); }, // more than the window holds
        [&] { far(Kind::credit, 1, 0); },
        [&] { far(Kind::credit, kLeastWindow / 2, 0); }, // for what was never sent
        [&] {                                            // for more than was sent
            near(Kind::data, 0, kLeastWindow / 4);
            far(Kind::credit, kLeastWindow / 2, 0);
        },
        [&] {
            near(Kind::data, 0, 10);
            far(Kind::credit, 0, 0);
        },
        [&] { // in smaller parts than a quarter of the window
            near(Kind::data, 0, kLeastWindow / 2);
            far(Kind::credit, kLeastWindow / 4 - 1, 0);
        },
        [&] { far(Kind::opened, UINT64_MAX, 0); }, // again
        [&] {
            near(Kind::confirm, 0, 32);
            near(Kind::confirm, 0, 32);
        },
        [&] { far(Kind::confirm, 0, 32); },
        [&] { near(Kind::data, 0, 10); },           // before it is open
        [&] { near(Kind::opened, UINT64_MAX, 0); }, // by the side that asked
        [&] { far(Kind::opened, kLeastWindow - 1, 0); },
    };
    deeds[deed]();
    CHECK(three.end(three.asking).ends_with("broke the rules of relayed links"));
    CHECK(three.end(*three.asked).ends_with("broke the rules of relayed links"));
    CHECK(warned.count() == 1);
}

TEST_CASE("credit makes room for as much as it says, and for no more") {
    const auto warned = expect_warning("broke the rules of relayed links");
    Three three;
    const Ends ends = three.opened(1, kLeastWindow);
    three.asking.say(ends.near, Kind::data, 0, kLeastWindow - kHopCost); // all of the window
    CHECK(three.next(*three.asked).kind == Kind::data);
    three.asked->say(ends.far, Kind::credit, kLeastWindow / 2);
    CHECK(three.next(three.asking).number == kLeastWindow / 2);
    three.asking.say(ends.near, Kind::more, 0, kLeastWindow / 2 - kHopCost);
    CHECK(three.next(*three.asked).kind == Kind::more);
    CHECK(warned.count() == 0);
    three.asking.say(ends.near, Kind::more, 0, std::size_t{0});
    CHECK(three.next(three.asking).ends_with("broke the rules of relayed links"));
}

TEST_CASE("a link that is closed is over at the other end too, and makes room for the next") {
    Three three({{"forward.memory", "8 MiB"}, {"forward.links", "1"}});
    const Ends ends = three.opened(1);
    three.asking.open(2, *three.asked);
    CHECK(three.next(three.asking).ends_with("relays 1 links, and may relay no more (forward.links)"));
    three.asking.say(ends.near, Kind::close, 0, std::as_bytes(std::span(std::string_view("that was all"))));
    CHECK(three.next(*three.asked).ends_with("that was all"));
    three.asked->say(ends.far, Kind::credit, 1); // as if it had not heard that
    CHECK(three.next(*three.asked).ends_with("the link has ended here"));
    three.opened(3);
}

TEST_CASE("links that nobody opens keep no place for longer than their ends may take") {
    Three three({{"forward.memory", "8 MiB"}, {"forward.links", "2"}});
    const Ends open = three.opened(1);
    three.asking.say(open.near, Kind::confirm, 0, std::size_t{32});
    CHECK(three.next(*three.asked).kind == Kind::confirm);
    const Ends silent = three.asked_for(2);
    std::uint32_t number = 3;
    CHECK(eventually(2 * kLimit, [&] { // as soon as that time is over
        std::this_thread::sleep_for(50ms);
        three.asking.open(number++, *three.asked);
        return three.next(three.asking).ends_with("it was not opened within 10 s");
    }));
    CHECK(three.next(*three.asked).link == silent.far);
    CHECK(three.next(*three.asked).kind == Kind::open);
    three.asking.say(open.near, Kind::data, 0, std::size_t{10});
    CHECK(three.next(*three.asked).kind == Kind::data);
}

TEST_CASE("a number that is taken anew ends the link that had it") {
    Three three;
    const Ends ends = three.opened(1);
    three.asking.open(1, *three.asked);
    const Heard end = three.next(*three.asked);
    CHECK(end.link == ends.far);
    CHECK(end.ends_with("has begun anew"));
    CHECK(three.next(*three.asked).kind == Kind::open);
}

TEST_CASE("a member that leaves ends its links at the other end") {
    Three three;
    three.opened(1);
    three.opened(2);
    three.asked.reset();
    CHECK(three.next(three.asking).ends_with("has lost"));
    CHECK(three.next(three.asking).ends_with("has lost"));
}

TEST_CASE("a link that is asked for in no known form, or of no module, is refused with the reason") {
    Three three;
    three.asking.open(1, *three.asked, UINT64_MAX, kMostRecord + 1);
    CHECK(three.next(three.asking).ends_with("in no form that is known here"));
    three.asking.open(2, *three.asked, UINT64_MAX, kMostRecord);
    CHECK(three.next(*three.asked).kind == Kind::open);
    three.asking.open(3, three.asked->context().id(), 200, UINT64_MAX, {});
    CHECK(three.next(three.asking).ends_with("no such module of the method"));
    three.asking.open(4, three.asked->context().id(), 0, kLeastWindow - 1, {});
    CHECK(three.next(three.asking).ends_with("needs a window of"));
}

TEST_CASE("what waits for a member that takes nothing is bounded, however many links are asked for") {
    const auto ignored = expect_warning("");
    Three three({{"forward.memory", "1 MiB"}, {"forward.links", "2"}, {"limits.handler_queue", "256 KiB"}});
    std::optional<Heard> refused;
    for (std::uint32_t link = 1; link <= 10'000 && !refused; ++link) {
        const LinkName name = three.asking.open(link, *three.asked);
        three.asking.say(name, Kind::close, 0, 4000);
        refused = three.asking.hear();
    }
    REQUIRE(eventually(kLimit, [&] { return refused || (refused = three.asking.hear()); }));
    INFO(refused->text);
    CHECK(refused->ends_with("takes nothing from forwarder gate"));
}

TEST_CASE("hops that found no room leave in their order as soon as there is some") {
    Three three({{"forward.memory", "64 MiB"}, {"forward.links", "1"}, {"limits.handler_queue", "256 KiB"}});
    const Ends ends = three.opened(1);
    const auto load = [](std::uint64_t i) { // large ones are kept as they came, small ones are copied
        return std::vector<std::byte>(i % 2 == 0 ? 120'000 : 100, static_cast<std::byte>(i));
    };
    std::uint64_t sent = 0;
    const auto send = [&] {
        three.asking.say(ends.near, Kind::data, sent, load(sent));
        ++sent;
    };
    REQUIRE(eventually(kLimit, [&] {
        if (sent < 200) send();
        three.asking.context().progress();
        return three.gate.core()->hub().waits();
    }));
    for (int i = 0; i < 40; ++i) send();
    for (std::uint64_t i = 0; i < sent; ++i) {
        const Heard heard = three.next(*three.asked);
        const std::vector<std::byte> wanted = load(i);
        REQUIRE(heard.number == i);
        REQUIRE(heard.text.size() == wanted.size());
        REQUIRE(std::memcmp(heard.text.data(), wanted.data(), wanted.size()) == 0);
    }
}

TEST_CASE("who asks for a link and does not prove to hold the job's key does not get it") {
    const bool is_proved = GENERATE(true, false);
    CAPTURE(is_proved);
    Context gate(gate_options("gate"));
    Target target(behind(gate.url()));
    Speaker asking(gate);
    const auto id_as = [](const ContextId& from) {
        plexus_id id{};
        std::memcpy(id.bytes, from.bytes.data(), sizeof id.bytes);
        return id;
    };
    Secret<32> key = asking.context().core()->endpoint().options().key;
    plexus_host host{};
    host.self = &key;
    host.id = id_as(asking.context().id());
    host.random = [](void*, void* data, std::size_t size) { crypto::fill_random(data, size); };
    host.hmac = [](void* self, plexus_view text, std::uint8_t code[32]) -> std::int32_t {
        const auto made = crypto::hmac_sha256(*static_cast<Secret<32>*>(self),
                                              {static_cast<const std::byte*>(text.data), text.size});
        std::memcpy(code, made.data(), made.size());
        return PLEXUS_OK;
    };
    auto shake = module::Handshake::connecting(host, id_as(target.context().id()));
    const auto next = [&] {
        std::optional<Heard> heard;
        eventually(kLimit, [&] { return (heard = asking.hear()).has_value(); });
        return heard.value_or(Heard{});
    };
    const std::vector<std::uint8_t> hello = shake.take_outgoing();
    const LinkName link =
        asking.open(1, target.context().id(), 0, UINT64_MAX, std::as_bytes(std::span(hello)));
    const Heard opened = next();
    REQUIRE(opened.kind == Kind::opened);
    const auto* const answer = reinterpret_cast<const std::uint8_t*>(opened.text.data());
    REQUIRE(shake.feed({answer, opened.text.size()}) == PLEXUS_OK);
    std::vector<std::uint8_t> proof = shake.take_outgoing();
    if (!is_proved) proof[0] ^= 1;
    asking.say(link, Kind::confirm, 0, std::as_bytes(std::span(proof)));
    if (is_proved) asking.say(link, Kind::more, 0, 10); // of no message: the first word that it does not like
    Heard end = next();
    while (end.kind == Kind::data || end.kind == Kind::more)
        end = next(); // the target has a link, and uses it
    CHECK(end.ends_with(is_proved ? "does not belong to the message under way"
                                  : "has not proved to hold the job's key"));
}

} // namespace forward_by_hand_test
