// SPDX-License-Identifier: BSD-3-Clause
// Any process of this host can connect to a context's listener: that delays peers, and keeps none out.
#include "parts.h"
#include "support/catch.h"
#include "support/descriptors.h"
#include "support/footprint.h"
#include "support/log_guard.h"

#include "base/sealed_memory.h"
#include "plexus/module/handshake.h"
#include "shm/doorbell.h"
#include "shm/layout.h"
#include "shm/listener.h"
#include "shm/opening.h"

#include <deque>

namespace strangers_test {

using namespace plexus::testing;
using plexus::SealedMemory;
using plexus::UniqueFd;
using plexus::module::Handshake;
using plexus::shm::Listener;

namespace {

plexus::shm::SocketName name_of(BareHost& host) {
    const Bytes bytes = host.descriptor();
    return plexus::shm::decode({bytes.data(), bytes.size()}).value().socket;
}

/// Connects to a listener without pause, from a thread; never more than 200 at a time.
class Refill {
  public:
    explicit Refill(const plexus::shm::SocketName& name)
      : thread_([this, name] {
          std::deque<UniqueFd> open;
          while (!stop_) {
              UniqueFd socket = plexus::shm::call(name);
              if (!socket) {
                  std::this_thread::yield();
                  continue;
              }
              ++calls_;
              open.push_back(std::move(socket));
              if (open.size() > 200) open.pop_front();
          }
      }) {}
    ~Refill() {
        stop_ = true;
        thread_.join();
    }
    std::uint64_t calls() const { return calls_; }

  private:
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> calls_{0};
    std::thread thread_;
};

} // namespace

TEST_CASE("a peer that closes after the greeting is called again: it has ended, or does not hold the key") {
    BareHost self(shm()); // whom the socket passes for
    for (const bool ends : {true, false}) {
        CAPTURE(ends);
        BareHost host(shm());
        const Bytes own = self.descriptor();
        auto there = plexus::shm::decode({own.data(), own.size()}).value();
        there.socket.fill(ends ? 0xa5 : 0x5a);
        UniqueFd listener = plexus::shm::listen_at(there.socket);
        REQUIRE(listener);
        const auto bytes = plexus::shm::encode(there);
        End* const end = host.connect(std::as_bytes(std::span(bytes)), self.id());
        REQUIRE(end != nullptr);
        int calls = 0;
        REQUIRE(pump({&host}, 10s, [&] {
            std::array<std::uint8_t, 256> room{};
            const UniqueFd caller = plexus::shm::accept_from(listener.get());
            if (caller && ++calls > 0) {
                (void)eventually(10s, [&] {
                    return plexus::shm::receive_packet(caller.get(), room, false).is ==
                           plexus::shm::Packet::Is::here;
                });
                if (ends) listener.reset();
            }
            return end->is_lost();
        }));
        CHECK(calls == (ends ? 1 : 2));
        CHECK(end->lost_status() == (ends ? PLEXUS_PEER_LOST : PLEXUS_DENIED));
    }
}

TEST_CASE("a peer whose setup is of another version, or wants a ring that cannot be, gets no link") {
    using namespace plexus::shm;
    struct Wrong {
        std::uint32_t version, lines;
    };
    const auto wrong =
        GENERATE(Wrong{kVersion, 128}, Wrong{kVersion + 1, 128}, Wrong{kVersion, 96}, Wrong{kVersion, 32});
    CAPTURE(wrong.version, wrong.lines);
    const bool right = wrong.version == kVersion && wrong.lines == 128;
    const auto logged = plexus::testing::expect_warning("a peer can not be taken");
    BareHost self(shm());
    BareHost host(shm());
    Mailbox mailbox;
    REQUIRE(mailbox.open());
    UniqueFd segment;
    const auto memory = SealedMemory::create("test segment", segment_bytes(wrong.lines), segment);
    REQUIRE(memory);
    Setup setup;
    setup.version = wrong.version;
    setup.ring_lines = wrong.lines;
    Opening opening(self.table(), name_of(host), host.id(), setup, Clock::now() + 10s);
    opening.offer({segment.get(), mailbox.memory_fd(), mailbox.event_fd()});
    std::int32_t status = PLEXUS_AGAIN;
    REQUIRE(pump({&host}, 10s, [&] {
        if (status == PLEXUS_AGAIN) status = opening.step();
        return status != PLEXUS_AGAIN;
    }));
    INFO(opening.why());
    CHECK((status == PLEXUS_OK) == right);
    CHECK(host.incoming_count() == (right ? 1 : 0));
    CHECK(logged.count() == (wrong.lines == 128 ? 0 : 1));
}

TEST_CASE("one poll lets in no more callers than its share") {
    BareHost host(shm());
    const auto name = name_of(host);
    std::vector<UniqueFd> strangers;
    for (int i = 0; i < 200; ++i) {
        strangers.push_back(plexus::shm::call(name));
        REQUIRE(strangers.back());
    }
    std::size_t most = 0;
    std::size_t before = Footprint::now().descriptors;
    const std::size_t first = before;
    for (int i = 0; i < 1'000; ++i) {
        host.poll();
        const std::size_t now = Footprint::now().descriptors;
        if (now > before) most = std::max(most, now - before);
        before = now;
    }
    CHECK(most > 0);
    CHECK(most <= Listener::kMostAtOnce);
    CHECK(before - first <= Listener::kMostSilent); // and the others were dropped for them
}

TEST_CASE("strangers that call again without pause neither keep a context busy nor peers out") {
    BareHost hub(shm());
    BareHost friendly(shm());
    End* far = nullptr;
    End* const steady = link_up(friendly, hub, &far);
    REQUIRE(steady != nullptr);
    const Refill refill(name_of(hub));
    const Poller hub_thread(hub); // peers are other processes: they call while it lets others in
    REQUIRE(eventually(10s, [&] { return refill.calls() > 1'000; }));
    for (int i = 0; i < 5; ++i) {
        BareHost peer(shm());
        End* const end = peer.connect(hub.descriptor(), hub.id());
        REQUIRE(end != nullptr);
        CHECK(pump({&peer}, 10s, [&] { return end->is_opened(); }));
        const std::uint64_t before = far->received();
        CHECK(friendly.push(*steady, numbered(32, 1)));
        CHECK(pump({&friendly}, 10s, [&] { return far->received() > before; }));
    }
}

TEST_CASE("eighty contexts that call one context at the same time all get their link") {
    if (!allow_descriptors(4096)) SKIP_TEST("this process may not have 4096 descriptors");
    BareHost hub(shm());
    std::vector<std::unique_ptr<BareHost>> peers;
    std::vector<End*> ends;
    for (int i = 0; i < 80; ++i) {
        peers.push_back(std::make_unique<BareHost>(shm()));
        ends.push_back(peers.back()->connect(hub.descriptor(), hub.id()));
        REQUIRE(ends.back() != nullptr);
        peers.back()->poll(); // has said its hello; waits for the answer
    }
    // The hub hears all hellos before any peer hears its answer, as where they share a processor.
    for (int i = 0; i < 80; ++i) hub.poll();
    CHECK(eventually(20s, [&] {
        hub.poll();
        for (const auto& peer : peers) peer->poll();
        return std::all_of(ends.begin(), ends.end(), [](const End* end) { return end->is_opened(); });
    }));
}

TEST_CASE("of too many callers those are dropped that have said nothing, the oldest first") {
    BareHost here(shm()); // only its table
    BareHost there(shm());
    plexus::shm::EventSet events;
    REQUIRE(events.open());
    Listener listener(here.table(), events);
    plexus::shm::SocketName name{};
    here.table().random(here.table().self, name.data(), name.size());
    REQUIRE(listener.open(name));
    const auto until = plexus::shm::Clock::now() + 60s;
    const auto accept_waiting = [&] {
        int count = 0;
        listener.accept_waiting(until, [&](std::uint32_t id) {
            ++count;
            CHECK(listener.step(id) == nullptr);
        });
        CHECK(count == 1);
    };
    std::deque<UniqueFd> silent;
    const auto add_silent = [&] {
        silent.push_back(plexus::shm::call(name));
        REQUIRE(silent.back());
        accept_waiting();
    };
    const auto dropped = [](const UniqueFd& caller) { return !plexus::shm::peer_is_there(caller.get(), -1); };

    add_silent();
    auto handshake = Handshake::connecting(there.table(), here.id());
    const UniqueFd peer = plexus::shm::call(name);
    REQUIRE(plexus::shm::send_packet(peer.get(), handshake.take_outgoing()));
    accept_waiting();
    while (silent.size() < Listener::kMostSilent) add_silent();
    CHECK_FALSE(dropped(silent[0]));
    add_silent();
    CHECK(dropped(silent[0]));
    CHECK_FALSE(dropped(silent[1]));
    for (int i = 0; i < 300; ++i) add_silent();
    CHECK(listener.caller_count() == Listener::kMostSilent + 1);
    CHECK_FALSE(dropped(peer)); // older than all of them, but it has spoken
    CHECK_FALSE(dropped(silent[silent.size() - 64]));
    CHECK(dropped(silent[silent.size() - 65]));
    CHECK(listener.next_check() == until);
    listener.check_time(until + 1s);
    CHECK_FALSE(listener.is_busy());
    CHECK(dropped(peer));
}

TEST_CASE("callers beyond the limit that have all spoken give way to a new one, the oldest first") {
    BareHost here(shm());
    BareHost there(shm());
    plexus::shm::EventSet events;
    REQUIRE(events.open());
    Listener listener(here.table(), events);
    plexus::shm::SocketName name{};
    here.table().random(here.table().self, name.data(), name.size());
    REQUIRE(listener.open(name));
    std::vector<UniqueFd> callers;
    REQUIRE(listener.most_callers() >= Listener::kFewestCallers);
    for (std::size_t i = 0; i <= listener.most_callers(); ++i) {
        auto handshake = Handshake::connecting(there.table(), here.id());
        callers.push_back(plexus::shm::call(name));
        REQUIRE(plexus::shm::send_packet(callers.back().get(), handshake.take_outgoing()));
        listener.accept_waiting(plexus::shm::Clock::now() + 60s,
                                [&](std::uint32_t id) { CHECK(listener.step(id) == nullptr); });
        CHECK(listener.caller_count() == std::min(i + 1, listener.most_callers()));
    }
    CHECK(listener.caller_count() == listener.most_callers());
    CHECK(plexus::shm::peer_is_there(callers[1].get(), -1));
    CHECK_FALSE(plexus::shm::peer_is_there(callers[0].get(), -1));
    listener.close();
    CHECK_FALSE(listener.is_busy());
    CHECK_FALSE(plexus::shm::peer_is_there(callers[1].get(), -1));
    CHECK_FALSE(plexus::shm::call(name));
}

} // namespace strangers_test
