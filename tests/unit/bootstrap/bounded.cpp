// SPDX-License-Identifier: BSD-3-Clause
// What one client can make a directory keep: names without values, lookups by the thousand, answers
// that it does not read.
#include "support/catch.h"
#include "unit/bootstrap/waiting.h"

#include "bootstrap/connect.h"
#include "bootstrap/records.h"
#include "bootstrap/registry.h"

#include <asio.hpp>
#include <malloc.h>
#include <map>

namespace bounded_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;
using asio::ip::tcp;

namespace {

constexpr std::size_t kMiB = 1024 * 1024;
constexpr std::uint32_t kWaits = 16384;

/// Bytes that the heap holds now; the sanitizers' own heap does not say.
std::size_t heap() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}
std::size_t growth_since(std::size_t before) {
    const std::size_t now = heap();
    return now > before ? now - before : 0;
}

/// A client that sends what it likes and reads only when it is told to.
class RawClient {
  public:
    RawClient(const std::string& url, const Key& key) {
        auto connection = connect(*parse_url(url), key, some_context(), in(5s));
        socket_ = tcp::socket(io_, connection->protocol, connection->socket.release());
        socket_.non_blocking(false);
    }
    void look_up(std::uint32_t request, const std::string& name) {
        Frame frame;
        frame.kind = Kind::lookup;
        frame.request = request;
        frame.name = name;
        frame.timeout = 60s;
        asio::write(socket_, asio::buffer(encode(frame)));
    }
    Frame next() {
        std::array<std::byte, kLengthBytes> length;
        asio::read(socket_, asio::buffer(length));
        Bytes frame(decode_length(length).value());
        asio::read(socket_, asio::buffer(frame));
        return decode(frame).value();
    }

  private:
    asio::io_context io_;
    tcp::socket socket_{io_};
};

struct Served {
    Key key = random_key();
    std::unique_ptr<DirectoryServer> server = DirectoryServer::listen("plexus://127.0.0.1:0", key, 1).value();
    std::shared_ptr<Directory> publisher = server->local();
    std::shared_ptr<Directory> other = join(server->url(), key, some_context(), in(5s)).value();

    /// Returns when the server's thread has done all that was due before.
    void settle() const { CHECK_FALSE(ask(*other, "nothing", 0s).get()); }
    /// Returns when the server has taken all lookups that `client` has sent, and nothing was answered.
    void take_all(RawClient& client) const {
        REQUIRE(publisher->publish("there", {}));
        client.look_up(kWaits + 1, "there");
        CHECK(client.next().request == kWaits + 1);
    }
};

} // namespace

TEST_CASE("a value that one client waits for 16,384 times is kept once, and each wait is answered") {
    const Served served;
    RawClient client(served.server->url(), served.key);
    for (std::uint32_t i = 1; i <= kWaits - 1; ++i) client.look_up(i, "popular");
    served.take_all(client);
    const std::size_t before = heap();
    REQUIRE(served.publisher->publish("popular", Bytes(kLongestValue, std::byte{7})));
    served.settle();
    CHECK(growth_since(before) < 32 * kMiB); // 1 GiB if each had a copy

    std::map<Status, std::uint32_t> answers;
    std::string refusal;
    for (std::uint32_t i = 1; i <= kWaits - 1; ++i) {
        const Frame answer = client.next();
        ++answers[answer.status];
        if (answer.status == Status::ok) CHECK(answer.value.size() == kLongestValue);
        if (answer.status != Status::ok) refusal = text_of(answer.value);
    }
    CHECK(answers[Status::ok] >= 200);
    CHECK(answers[Status::ok] + answers[Status::busy] == kWaits - 1);
    CHECK(refusal.find("\"popular\"") != std::string::npos);
    CHECK(refusal.find("look it up again") != std::string::npos);
    client.look_up(7, "popular"); // it reads now: there is room again
    CHECK(client.next().value.size() == kLongestValue);
}

TEST_CASE("answers that a client does not read are bounded in bytes, also of names that are gone") {
    const Served served;
    RawClient client(served.server->url(), served.key);
    constexpr std::uint32_t kNames = 1500; // nearly 100 MB of values
    for (std::uint32_t i = 1; i <= kNames; ++i) client.look_up(i, "name " + std::to_string(i));
    served.take_all(client);
    const std::size_t before = heap();
    for (std::uint32_t i = 1; i <= kNames; ++i) {
        const std::string name = "name " + std::to_string(i);
        REQUIRE(served.publisher->publish(name, Bytes(kLongestValue, std::byte{1})));
        served.publisher->unpublish(name);
    }
    served.settle();
    CHECK(growth_since(before) < 32 * kMiB);
    std::uint32_t good = 0;
    for (std::uint32_t i = 1; i <= kNames; ++i) good += client.next().status == Status::ok ? 1 : 0;
    CHECK(good >= 200);
    CHECK(good < kNames);
}

TEST_CASE("a client that does not read is not listened to, so that what it asks for later is not refused") {
    const Served served;
    REQUIRE(served.publisher->publish("large", Bytes(kLongestValue, std::byte{1})));
    RawClient client(served.server->url(), served.key);
    constexpr std::uint32_t kQuestions = 1000; // 64 MB of answers, more than sockets hold
    for (std::uint32_t i = 1; i <= kQuestions; ++i) client.look_up(i, "large");
    for (int i = 0; i < 100; ++i) served.settle();
    std::uint32_t good = 0;
    for (std::uint32_t i = 1; i <= kQuestions; ++i) good += client.next().status == Status::ok ? 1 : 0;
    CHECK(good == kQuestions);
}

TEST_CASE("names without values count with what they cost") {
    const auto one = process_directory();
    const std::size_t before = heap();
    std::size_t kept = 0;
    while (kept < 4'000'000 && one->publish(std::to_string(kept), {})) ++kept;
    CHECK(kept >= 100'000);
    CHECK(growth_since(before) <= 64 * kMiB);
    CHECK(one->publish("more", {}).status() == Status::too_large);
    one->unpublish("0");
    CHECK(one->publish("more", {}));
}

TEST_CASE("long names that are waited for are bounded, and whoever waits for others is not in their way") {
    std::uint32_t refused = 0; // outlives the view, whose end answers what still waits
    const auto greedy = process_directory();
    const auto other = process_directory();
    const std::size_t before = heap();
    for (std::uint32_t i = 0; i < 2 * kWaits; ++i)
        greedy->lookup(
            std::string(240, 'n') + std::to_string(i), in(60s),
            [&refused](const Result<Bytes>& said) { refused += said.status() == Status::busy ? 1 : 0; });
    CHECK(refused == kWaits);
    CHECK(growth_since(before) < 16 * kMiB);
    auto found = ask(*other, "mine", 10s);
    REQUIRE(other->publish("mine", bytes_of("1")));
    CHECK(text_of(*found.get()) == "1");
}

TEST_CASE("whoever has stopped waiting for names may wait for others") {
    std::atomic<std::uint32_t> ended{0};
    const auto one = process_directory();
    for (std::uint32_t i = 0; i < kWaits; ++i)
        one->lookup("never " + std::to_string(i), in(1ms), [&ended](const Result<Bytes>&) { ++ended; });
    REQUIRE(plexus::testing::eventually(10s, [&] { return ended == kWaits; }));
    for (std::uint32_t i = 0; i < kWaits; ++i)
        one->lookup("later", in(60s), [&ended](const Result<Bytes>& said) { ended += said ? 1 : 0; });
    REQUIRE(one->publish("later", {})); // found by all: there was room for each
    CHECK(ended == 2 * kWaits);
    CHECK(ask(*one, "nothing", 1ms).get().status() == Status::not_found);
}

} // namespace bounded_test
