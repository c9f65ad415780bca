// SPDX-License-Identifier: BSD-3-Clause
// A link whose socket is never empty: the other links, new connections, writing and timers of the same
// context go on beside it.
#include "raw_peer.h"
#include "support/catch.h"

#include <algorithm>
#include <optional>

namespace fairness_test {

using namespace plexus::testing;

namespace {

/// Sends small messages to `to` without end: refill() before each poll of `to` keeps its socket full.
class Flood {
  public:
    explicit Flood(BareHost& to)
      : from_(tcp(), with({{"sndbuf", "256 KiB"}, {"linger", "1 ms"}}))
      , end_(link_up(from_, to, &far_)) {
        if (end_ == nullptr) throw std::runtime_error("no link");
    }
    void refill() {
        for (int i = 0; i < 20'000 && from_.send(*end_, message_, 8, 1) == PLEXUS_OK; ++i) {}
        from_.poll();
    }
    End& far() { return *far_; }

  private:
    BareHost from_;
    End* far_ = nullptr;
    End* end_;
    std::shared_ptr<const Bytes> message_ = std::make_shared<const Bytes>(8);
};

void discard_messages(BareHost& host) {
    host.hooks.message = [](End&, ByteView) {};
}

/// How many polls of `host` pass until `done()`; at most `most`.
template <class Done>
int polls_until(BareHost& host, std::span<Flood* const> floods, int most, Done&& done) {
    for (int polls = 0; polls < most; ++polls) {
        for (Flood* flood : floods) flood->refill();
        host.poll();
        if (done()) return polls;
    }
    return most;
}

constexpr int kFewPolls = 400;

struct Busy {
    Busy() {
        discard_messages(host);
        flood.emplace(host);
        floods = {&*flood};
        polls_until(host, floods, 20, [] { return false; });
    }
    BareHost host{tcp()};
    std::optional<Flood> flood;
    std::array<Flood*, 1> floods{};
};

} // namespace

TEST_CASE("a message arrives although another link is never without one") {
    BareHost host(tcp());
    discard_messages(host);
    BareHost quiet(tcp());
    End* far = nullptr;
    End* near = link_up(quiet, host, &far);
    REQUIRE(near != nullptr);
    Flood flood(host);
    const std::array<Flood*, 1> floods{&flood};
    polls_until(host, floods, 20, [] { return false; });
    for (std::uint64_t n = 1; n <= 5; ++n) {
        REQUIRE(quiet.send(*near, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_OK);
        CHECK(polls_until(host, floods, kFewPolls, [&] { return far->received() == n; }) < kFewPolls);
    }
}

TEST_CASE("many quiet links are served in a few turns beside one that is never without a message") {
    constexpr std::size_t kQuiet = 20;
    constexpr int kMostPolls = 30; // the epoll set is asked in every 17th turn at least
    BareHost host(tcp());
    discard_messages(host);
    BareHost quiet(tcp());
    std::vector<End*> near(kQuiet);
    std::vector<End*> far(kQuiet);
    for (std::size_t i = 0; i < kQuiet; ++i) REQUIRE((near[i] = link_up(quiet, host, &far[i])) != nullptr);
    Flood flood(host);
    const std::array<Flood*, 1> floods{&flood};
    polls_until(host, floods, 700, [] { return false; }); // only the flood is hot now
    for (End* each : near) REQUIRE(quiet.send(*each, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_OK);
    CHECK(polls_until(host, floods, kMostPolls, [&] {
              return std::all_of(far.begin(), far.end(), [](const End* end) { return end->received() == 1; });
          }) < kMostPolls);
}

TEST_CASE("a link is made although another is never without a message") {
    Busy busy;
    BareHost peer(tcp());
    End* out = peer.connect(busy.host.descriptor(), busy.host.id());
    End* back = busy.host.connect(peer.descriptor(), peer.id());
    REQUIRE(out != nullptr);
    REQUIRE(back != nullptr);
    const int polls = polls_until(busy.host, busy.floods, kFewPolls, [&] {
        peer.poll();
        return out->is_open() && back->is_open();
    });
    CHECK(polls < kFewPolls);
}

TEST_CASE("a link has room again although another is never without a message") {
    BareHost host(tcp());
    discard_messages(host);
    BareHost reader(tcp());
    discard_messages(reader);
    End* far = nullptr;
    REQUIRE(link_up(reader, host, &far) != nullptr);
    const auto message = std::make_shared<const Bytes>(4'000);
    while (host.send(*far, message, 24, 2) == PLEXUS_OK) {}
    const std::uint64_t before = far->writable();
    Flood flood(host);
    const std::array<Flood*, 1> floods{&flood};
    CHECK(polls_until(host, floods, 4 * kFewPolls, [&] {
              reader.poll();
              return far->writable() > before;
          }) < 4 * kFewPolls);
}

TEST_CASE("time limits run although a link is never without a message") {
    BareHost host(tcp(), with({{"connect_timeout", "100 ms"}}));
    discard_messages(host);
    Flood flood(host);
    BareHost deaf(tcp()); // listens, but does not answer
    End* end = host.connect(deaf.descriptor(), deaf.id());
    REQUIRE(end != nullptr);
    CHECK(eventually(10s, [&] {
        flood.refill();
        host.poll();
        return end->is_lost();
    }));
}

TEST_CASE("links that wait for their first turn share one turn's budget") {
    BareHost host(tcp());
    BareHost first(tcp());
    BareHost second(tcp());
    std::array<End*, 2> far{};
    End* const one = link_up(first, host, &far[0]);
    End* const other = link_up(second, host, &far[1]);
    REQUIRE(one != nullptr);
    REQUIRE(other != nullptr);
    REQUIRE(eventually(10s, [&] { return host.poll() == 0; }));
    for (int i = 0; i < 100; ++i) {
        REQUIRE(first.send(*one, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_OK);
        REQUIRE(second.send(*other, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_OK);
    }
    host.poll(8);
    CAPTURE(far[0]->received(), far[1]->received());
    CHECK(std::min(far[0]->received(), far[1]->received()) >= 3);
}

TEST_CASE("damage behind many messages is told, although two other links are never without one") {
    BareHost host(tcp());
    discard_messages(host);
    BareHost self(tcp());
    RawPeer raw(host);
    raw.shake_hands(self, host);
    REQUIRE(pump({&host}, 5s, [&] { return host.incoming_count() == 1; }));
    End* const end = host.incoming().front();
    Flood one(host);
    Flood other(host);
    const std::array<Flood*, 2> floods{&one, &other};
    polls_until(host, floods, 700, [] { return false; }); // these two are hot
    Bytes stream;
    for (int i = 0; i < 200; ++i) { // more than one turn's share
        stream.push_back(std::byte{8});
        stream.insert(stream.end(), 7 + 8, std::byte{0});
    }
    stream.insert(stream.end(), 7, std::byte{0});
    stream.push_back(std::byte{65}); // a head that is longer than heads may be
    raw.send(stream);
    CHECK(polls_until(host, floods, 4 * kFewPolls, [&] { return end->is_lost(); }) < 4 * kFewPolls);
    CHECK(end->received() == 200);
}

TEST_CASE("links that are never without a message all get on, each with its share") {
    const std::size_t links = GENERATE(std::size_t{6}, std::size_t{24}); // 24: more than receive buffers
    CAPTURE(links);
    BareHost host(tcp());
    discard_messages(host);
    std::vector<std::unique_ptr<Flood>> owners;
    std::vector<Flood*> floods;
    for (std::size_t i = 0; i < links; ++i) {
        owners.push_back(std::make_unique<Flood>(host));
        floods.push_back(owners.back().get());
    }
    std::vector<std::uint64_t> got(links);
    for (std::size_t i = 0; i < links; ++i) got[i] = floods[i]->far().received();
    const std::vector<std::uint64_t> before = got;
    polls_until(host, floods, 1'000, [] { return false; });
    for (std::size_t i = 0; i < links; ++i) got[i] = floods[i]->far().received() - before[i];
    std::sort(got.begin(), got.end());
    CAPTURE(got);
    if (links == 6) CHECK(got[links - 1] <= 2 * got[0]);
    // Whoever has no buffer in one stretch gets one in a later one.
    CHECK(polls_until(host, floods, 20'000, [&] {
              for (std::size_t i = 0; i < links; ++i)
                  if (floods[i]->far().received() == before[i]) return false;
              return true;
          }) < 20'000);
}

TEST_CASE("more links than one turn's budget are begun in the turns that follow") {
    constexpr std::size_t kLinks = 40;
    BareHost host(tcp());
    BareHost peer(tcp());
    std::vector<End*> ends;
    for (std::size_t i = 0; i < kLinks; ++i) ends.push_back(host.connect(peer.descriptor(), peer.id()));
    const bool all = eventually(10s, [&] {
        host.poll(8);
        peer.poll();
        return std::all_of(ends.begin(), ends.end(), [](const End* end) { return end->is_open(); });
    });
    CHECK(all);
}

} // namespace fairness_test
