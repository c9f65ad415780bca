// SPDX-License-Identifier: BSD-3-Clause
// A process without descriptors, without memory, or whose kernel stops to allow cross-memory attach: the link
// stays, and what was sent arrives, or its sender is told.
#include "forbid_reading.h"
#include "parts.h"
#include "support/catch.h"
#include "support/limit.h"
#include "support/log_guard.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace exhaustion_test {

using namespace plexus::testing;

namespace {

// What the sender of each case sends after the first small message: kMessages of 4 KiB, a large one, a small.
constexpr std::uint64_t kMessages = 20;
std::shared_ptr<const Bytes> message_number(std::uint64_t n) {
    const auto first = static_cast<std::uint8_t>(n);
    if (n == kMessages) return numbered(3'000'000, first);
    return numbered(n < kMessages ? 4'096 : 10, first);
}

void send_all(BareHost& host, End& end) {
    for (std::uint64_t n = 0; n < kMessages + 2; ++n) REQUIRE(host.push(end, message_number(n)));
}

// The receiver's half, in a child: 0 if everything arrived as it was sent, over the link that there was.
int check_all(BareHost& host, End& from) {
    for (std::uint64_t n = 0; n < kMessages + 2; ++n) {
        std::optional<Bytes> message;
        if (!pump({&host}, 20s, [&] {
                message = from.take();
                return message.has_value() || from.is_lost();
            }))
            return 10;
        if (!message) return 11;
        if (*message != *message_number(n)) return 12;
    }
    return from.is_lost() ? 13 : 0;
}

// Waits for the link and its first small message.
End* first_message(BareHost& host) {
    End* from = nullptr;
    pump({&host}, 10s, [&] {
        if (host.incoming_count() > 0) from = host.incoming().front();
        return from != nullptr && from->received() == 1;
    });
    if (from != nullptr) from->take();
    return from;
}

// Parent and child of most cases: the child receives, `shortage` is its state meanwhile.
int outcome_of(const std::function<int(BareHost&, End&, Channel&)>& receive, BareOptions options = {}) {
    Process child([&](Channel& parent) {
        BareHost host(shm());
        introduce(host, parent);
        End* const from = first_message(host);
        return from == nullptr ? 1 : receive(host, *from, parent);
    });
    BareHost host(shm(), std::move(options));
    End* const end = meet(host, child.channel());
    REQUIRE(end != nullptr);
    REQUIRE(host.send(*end, numbered(8, 1), 8, 1) == PLEXUS_OK);
    REQUIRE(
        pump({&host}, 10s, [&] { return child.channel().take(0ms).has_value(); })); // the shortage is there
    send_all(host, *end);
    std::optional<int> code;
    pump({&host}, 30s, [&] {
        code = child.wait(0ms);
        return code.has_value();
    });
    CHECK(end->completed() == end->posted());
    return code.value_or(-1);
}

} // namespace

TEST_CASE("a receiver that has no descriptor left gets larger messages all the same") {
    CHECK(outcome_of([](BareHost& host, End& from, Channel& parent) {
              const Limit limit(RLIMIT_NOFILE, next_descriptor());
              signal_to(parent);
              return check_all(host, from);
          }) == 0);
}

TEST_CASE("a receiver that can get no descriptor for a while gets its messages after that, in order") {
    CHECK(outcome_of([](BareHost& host, End& from, Channel& parent) {
              const auto said = expect_warning("this process has no descriptor left");
              {
                  const Limit limit(RLIMIT_NOFILE, 3); // no closed descriptor makes room below that
                  signal_to(parent);
                  if (!pump({&host}, 10s, [&] { return said.count() == 1 || from.is_lost(); })) return 2;
                  std::uint64_t sleep_ns = UINT64_MAX;
                  const auto sleeps = [&] { return host.arm(&sleep_ns) == PLEXUS_OK; };
                  if (!pump({&host}, 10s, sleeps) || sleep_ns > 1'000'000'000) return 3; // it does not spin
                  if (from.is_lost() || from.received() != 1) return 4;
              }
              return check_all(host, from);
          }) == 0);
}

TEST_CASE("a receiver that has no memory for the area for a while gets its messages after that, in order") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    CHECK(outcome_of(
              [](BareHost& host, End& from, Channel& parent) {
                  const auto said = expect_warning("the peer's shared area can't be mapped");
                  {
                      const Limit limit(RLIMIT_AS, address_space() + (16 << 20));
                      signal_to(parent);
                      if (!pump({&host}, 10s, [&] { return said.count() == 1 || from.is_lost(); })) return 2;
                      if (from.is_lost() || from.received() != 1) return 3;
                  }
                  return check_all(host, from);
              },
              with({{"area", "256 MiB"}})) == 0);
}

TEST_CASE("a peer that ends while its receiver has no descriptor is reported, and nothing is left") {
    Process child([&](Channel& parent) {
        const auto said = expect_warning("this process has no descriptor left");
        BareHost host(shm(), with({{"connect_timeout", "500 ms"}}));
        introduce(host, parent);
        End* const from = first_message(host);
        if (from == nullptr) return 1;
        const Limit limit(RLIMIT_NOFILE, 3);
        signal_to(parent);
        if (!pump({&host}, 10s, [&] { return said.count() == 1; })) return 2;
        signal_to(parent);
        return pump({&host}, 20s, [&] { return from->is_lost(); }) ? 0 : 3;
    });
    BareHost host(shm());
    End* const end = meet(host, child.channel());
    REQUIRE(end != nullptr);
    REQUIRE(host.send(*end, numbered(8, 1), 8, 1) == PLEXUS_OK);
    REQUIRE(child.channel().take(10s));
    REQUIRE(host.send(*end, numbered(4'096, 1), 24, 2) == PLEXUS_OK);
    REQUIRE(child.channel().take(10s));
    host.destroy();
    CHECK(child.wait(25s) == 0);
}

TEST_CASE("a link that needs more descriptors than there are is refused, with the reason in the log") {
    BareHost near(shm());
    const auto said = expect_warning("a connection cannot be accepted for now"); // nor another one
    std::size_t lines = 0;
    {
        BareHost far(shm());
        const Bytes there = far.descriptor();
        End* end = near.connect(there, far.id());
        REQUIRE(end != nullptr);
        for (int i = 0; i < 3; ++i) near.poll(); // it has called: its own descriptors are made
        {
            const Limit limit(RLIMIT_NOFILE, next_descriptor() + 1); // for the call itself
            REQUIRE(pump({&near, &far}, 10s, [&] { return end->is_lost(); }));
        }
        for (const std::string& line : far.log_lines())
            lines += line.find("no descriptors left for a link") != std::string::npos ? 1 : 0;
        CHECK(end->lost_status() == PLEXUS_LINK_LOST);
        CHECK(far.incoming_count() == 0);
        CHECK(link_up(near, far) != nullptr);
    }
    CHECK(lines == 1);
}

TEST_CASE("a link to a living peer waits for a descriptor, and opens as soon as there is one") {
    BareHost near(shm());
    BareHost far(shm());
    const auto said = expect_warning("a connection cannot be accepted for now");
    for (rlim_t left = 0; left < 2; ++left) { // none for the segment, one for it and none for the socket
        CAPTURE(left);
        End* end = nullptr;
        {
            const Limit limit(RLIMIT_NOFILE, next_descriptor() + left);
            end = near.connect(far.descriptor(), far.id());
            REQUIRE(end != nullptr);
            for (int i = 0; i < 100; ++i) near.poll();
            REQUIRE_FALSE(end->is_lost());
        }
        CHECK(pump({&near, &far}, 10s, [&] { return end->is_open(); }));
    }
}

TEST_CASE("a link that gets no descriptor in time is lost, and the peer is not") {
    BareHost near(shm(), with({{"connect_timeout", "200 ms"}}));
    BareHost far(shm());
    for (rlim_t left = 0; left < 2; ++left) {
        CAPTURE(left);
        const Bytes there = far.descriptor();
        const Limit limit(RLIMIT_NOFILE, next_descriptor() + left);
        End* const end = near.connect(there, far.id());
        REQUIRE(end != nullptr);
        REQUIRE(pump({&near}, 10s, [&] { return end->is_lost(); }));
        CHECK(end->lost_status() == PLEXUS_LINK_LOST);
    }
}

TEST_CASE("where the kernel stops to allow cross-memory attach, posted messages and later ones arrive") {
    Process child([&](Channel& parent) {
        const auto said = expect_warning("reading a message from the peer's memory failed");
        BareHost host(shm());
        introduce(host, parent);
        End* const from = first_message(host);
        if (from == nullptr) return 1;
        if (!forbid_reading()) return 77;
        signal_to(parent);
        // Counts what arrives, until the peer goes.
        return pump({&host}, 20s, [&] { return from->is_lost(); }) ? static_cast<int>(from->received()) : 2;
    });
    BareHost host(shm(), with({{"cma_from", "1"}, {"eager", "4 KiB"}}));
    End* const end = meet(host, child.channel());
    REQUIRE(end != nullptr);
    std::uint64_t lost = 0;
    std::uint64_t whole = 0;
    host.hooks.sent = [&](End&, std::int32_t status) { ++(status == PLEXUS_OK ? whole : lost); };
    REQUIRE(host.send(*end, numbered(8, 1), 8, 1) == PLEXUS_OK);
    if (!child.channel().take(10s)) SKIP_TEST("seccomp filters are not allowed here");
    for (std::uint8_t i = 0; i < 3; ++i) REQUIRE(host.push(*end, numbered(3'000'000, i)));
    REQUIRE(host.push(*end, numbered(10, 1)));
    REQUIRE(pump({&host}, 20s, [&] { return end->completed() == 3 && end->posted() == 3; }));
    CHECK_FALSE(end->is_lost());
    REQUIRE(host.push(*end, numbered(3'000'000, 7)));
    REQUIRE(pump({&host}, 20s, [&] { return end->completed() == end->posted(); }));
    CHECK(whole == end->posted());
    CHECK(lost == 0);
    host.destroy();
    CHECK(child.wait(20s) == 1 + 3 + 1 + 1);
}

TEST_CASE("a posted message whose memory is gone is lost, and the link stays") {
    const auto said =
        expect_warning("failed: Bad address; the peer copies it: keep what is sent mapped until it "
                       "is delivered, or set cma = off");
    const auto told = expect_warning("copying the message failed (Bad address); keep what is sent mapped");
    Pair pair(shm(), with({{"cma_from", "1"}, {"eager", "4 KiB"}}));
    std::vector<std::int32_t> ended;
    pair.a.hooks.sent = [&](End&, std::int32_t status) { ended.push_back(status); };
    constexpr std::size_t kSize = 3 << 20;
    void* const memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    const std::array<std::byte, 24> head{};
    const std::array<plexus_view, 2> pieces{plexus_view{head.data(), head.size()},
                                            plexus_view{memory, kSize}};
    REQUIRE(pair.a.send_pieces(*pair.to_b, pieces) == PLEXUS_POSTED);
    REQUIRE(pair.a.send(*pair.to_b, numbered(3'000'000, 5), 24, 2) == PLEXUS_POSTED);
    REQUIRE(::mprotect(memory, kSize, PROT_NONE) == 0);
    REQUIRE(pair.pump(10s, [&] { return ended.size() == 2; }));
    CHECK(ended == std::vector<std::int32_t>{PLEXUS_MESSAGE_LOST, PLEXUS_OK});
    CHECK(pair.to_a->received() == 1);
    CHECK((pair.to_a->take() == *numbered(3'000'000, 5)));
    CHECK_FALSE(pair.to_a->is_lost());
    CHECK((said.count() == 1 && told.count() == 1));
    ::munmap(memory, kSize);
}

} // namespace exhaustion_test
