// SPDX-License-Identifier: BSD-3-Clause
// Peers that do not hold the key, as client or as server: the connection is closed or the error is clear, and
// no other client notices.
#include "support/catch.h"
#include "support/log_guard.h"
#include "unit/bootstrap/waiting.h"

#include "bootstrap/connect.h"
#include "bootstrap/handshake.h"
#include "bootstrap/records.h"

#include <asio.hpp>
#include <atomic>
#include <random>
#include <thread>

namespace strangers_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;
using asio::ip::tcp;
using plexus::testing::eventually;

namespace {

tcp::endpoint endpoint_of(const std::string& url) { return resolve(*parse_url(url))->front(); }

/// A bare connection without any manners.
class Stranger {
  public:
    explicit Stranger(const std::string& url) { socket_.connect(endpoint_of(url)); }
    /// From an address of this host.
    Stranger(const std::string& url, const char* from) {
        socket_.open(tcp::v4());
        socket_.bind({asio::ip::make_address(from), 0});
        socket_.connect(endpoint_of(url));
    }
    /// Waits for it, whole.
    template <std::size_t Size>
    std::array<std::byte, Size> hear() {
        std::array<std::byte, Size> bytes{};
        socket_.non_blocking(false);
        asio::read(socket_, asio::buffer(bytes));
        return bytes;
    }
    bool is_closed() {
        std::byte one{};
        std::error_code error;
        socket_.non_blocking(true);
        socket_.receive(asio::buffer(&one, 1), asio::socket_base::message_peek, error);
        return error && error != asio::error::would_block;
    }

    void say(std::span<const std::byte> bytes) {
        std::error_code ignored; // the connection may be closed already
        asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), ignored);
    }
    /// How much the other side said before it closed; -1 if it did not close in time.
    int heard_until_closed(std::chrono::milliseconds limit) {
        int heard = 0;
        socket_.non_blocking(true);
        const bool closed = eventually(limit, [&] {
            std::array<std::byte, 512> room;
            std::error_code error;
            heard += static_cast<int>(socket_.read_some(asio::buffer(room), error));
            return error && error != asio::error::would_block;
        });
        return closed ? heard : -1;
    }

  private:
    asio::io_context io_;
    tcp::socket socket_{io_};
};

/// A client that has sent its confirm record publishes a name, and is answered.
bool is_served(Stranger& client) {
    Frame question;
    question.kind = Kind::publish;
    question.request = 1;
    question.name = "known";
    client.say(encode(question));
    return client.hear<kLengthBytes>() != std::array<std::byte, kLengthBytes>{};
}

/// Something that listens and says `banner` to whoever comes, then nothing.
class OtherServer {
  public:
    explicit OtherServer(std::string banner)
      : banner_(std::move(banner)) {
        thread_ = std::thread([this] {
            std::error_code error;
            tcp::socket client(io_);
            acceptor_.accept(client, error);
            if (error) return;
            asio::write(client, asio::buffer(banner_), error);
            std::array<char, 512> room;
            while (!error) client.read_some(asio::buffer(room), error);
        });
    }
    ~OtherServer() {
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR); // wakes accept() if nobody came
        thread_.join();
    }
    std::string url() const {
        return "plexus://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }

  private:
    std::string banner_;
    asio::io_context io_;
    tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::thread thread_;
};

/// Holds the key, and is no directory: says `words` to whoever has joined, then nothing.
class FalseDirectory {
  public:
    explicit FalseDirectory(Bytes words)
      : words_(std::move(words)) {
        thread_ = std::thread([this] {
            std::error_code error;
            tcp::socket client(io_);
            acceptor_.accept(client, error);
            if (error) return;
            ServerHandshake handshake(key);
            std::array<std::byte, kHelloBytes> hello;
            asio::read(client, asio::buffer(hello), error);
            asio::write(client, asio::buffer(handshake.take_hello(hello)), error);
            std::array<std::byte, kConfirmBytes> confirm;
            asio::read(client, asio::buffer(confirm), error);
            if (!error) asio::write(client, asio::buffer(words_), error);
            std::array<char, 512> room;
            while (!error) client.read_some(asio::buffer(room), error);
        });
    }
    ~FalseDirectory() {
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR); // wakes accept() if nobody came
        thread_.join();
    }
    std::string url() const {
        return "plexus://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }
    const Key key = random_key();

  private:
    Bytes words_;
    asio::io_context io_;
    tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::thread thread_;
};

struct Served {
    Key key = random_key();
    std::unique_ptr<DirectoryServer> server = DirectoryServer::listen("plexus://127.0.0.1:0", key, 1).value();
    bool still_serves() const { return static_cast<bool>(join(server->url(), key, some_context(), in(5s))); }
};

} // namespace

TEST_CASE("a client with the wrong key is told to look at its key") {
    const Served served;
    const auto refused = join(served.server->url(), random_key(), some_context(), in(5s));
    REQUIRE(refused.status() == Status::denied);
    CHECK(mentions(refused.failure(), "key"));
    CHECK(served.still_serves());
}

TEST_CASE("random bytes get no answer and a closed connection") {
    const Served served;
    std::mt19937 random(3);
    for (int round = 0; round < 50; ++round) {
        Bytes noise(kHelloBytes + random() % 5000);
        for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
        Stranger stranger(served.server->url());
        stranger.say(noise);
        CHECK(stranger.heard_until_closed(5s) == 0);
    }
    CHECK(served.still_serves());
}

TEST_CASE("a connection that sends half a record and stops is closed in bounded time") {
    const Served served;
    const ClientHandshake client(served.key, some_context());
    Stranger nothing(served.server->url());
    Stranger half(served.server->url());
    half.say(std::span(client.hello()).first(kHelloBytes / 2));
    Stranger unconfirmed(served.server->url());
    unconfirmed.say(client.hello());
    const auto guest = join(served.server->url(), served.key, some_context(), in(5s)).value();
    CHECK(served.still_serves()); // nobody waits for them
    CHECK(nothing.heard_until_closed(10s) == 0);
    CHECK(half.heard_until_closed(10s) == 0);
    CHECK(unconfirmed.heard_until_closed(10s) == static_cast<int>(kAnswerBytes));
    Stranger last(served.server->url()); // when its time is over, so is that of whoever came before
    CHECK(last.heard_until_closed(10s) == 0);
    CHECK(guest->publish("still here", bytes_of("1")));
}

TEST_CASE("200 connections that do not authenticate keep no client out") {
    const Served served;
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 200; ++i) crowd.push_back(std::make_unique<Stranger>(served.server->url()));
    CHECK(served.still_serves());
    CHECK(crowd.front()->heard_until_closed(1s) == 0); // the oldest had to go
}

TEST_CASE("strangers that come without pause keep no client out") {
    const Served served;
    std::vector<std::unique_ptr<Stranger>> crowd(300);
    for (auto& each : crowd) each = std::make_unique<Stranger>(served.server->url());
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> came_back{0};
    std::thread refill([&] {
        for (std::size_t at = 0; !stop; at = (at + 1) % crowd.size()) {
            if (!crowd[at]->is_closed()) continue;
            crowd[at] = std::make_unique<Stranger>(served.server->url());
            ++came_back;
        }
    });
    const bool full = eventually(60s, [&] { return came_back > 1'000; });
    const auto stayed = join(served.server->url(), served.key, some_context(), in(60s));
    int served_clients = 0;
    for (int i = 0; stayed && i < 20; ++i) {
        const auto client = join(served.server->url(), served.key, some_context(), in(60s));
        if (client && (*stayed)->publish(std::to_string(i), bytes_of("1")) &&
            ask(**client, std::to_string(i), 60s).get())
            ++served_clients;
    }
    stop = true;
    refill.join();
    CHECK(full);
    CHECK(served_clients == 20);
}

TEST_CASE("a client that has sent its hello keeps its place among silent strangers") {
    const Served served;
    ClientHandshake client(served.key, some_context());
    Stranger known(served.server->url());
    known.say(client.hello());
    const auto answer = known.hear<kAnswerBytes>();
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 200; ++i) crowd.push_back(std::make_unique<Stranger>(served.server->url()));
    CHECK(eventually(5s, [&] { return crowd[100]->is_closed(); }));
    REQUIRE_FALSE(known.is_closed());
    known.say(client.take_answer(answer));
    CHECK(is_served(known));
}

TEST_CASE("who has sent its hello just before the next one comes keeps its place") {
    const Served served;
    for (int round = 0; round < 50; ++round) {
        // All of these are accepted in one turn or in several: what counts is what the sockets hold.
        const ClientHandshake client(served.key, some_context());
        Stranger known(served.server->url());
        known.say(client.hello());
        std::vector<std::unique_ptr<Stranger>> crowd;
        for (int i = 0; i < 80; ++i) crowd.push_back(std::make_unique<Stranger>(served.server->url()));
        (void)known.hear<kAnswerBytes>();
        REQUIRE_FALSE(known.is_closed());
    }
}

TEST_CASE("who has sent its confirm record just before the next one comes keeps its place") {
    constexpr std::size_t kMost = 66; // that have not proved the key, at a directory for one member
    for (int round = 0; round < 20; ++round) {
        const Served served;
        ClientHandshake client(served.key, some_context());
        Stranger known(served.server->url());
        known.say(client.hello());
        const Bytes confirm = client.take_answer(known.hear<kAnswerBytes>());
        std::vector<std::unique_ptr<Stranger>> crowd; // of clients that are not silent either
        while (crowd.size() + 1 < kMost) {
            const ClientHandshake other(served.key, some_context());
            crowd.push_back(std::make_unique<Stranger>(served.server->url()));
            crowd.back()->say(other.hello());
            (void)crowd.back()->hear<kAnswerBytes>();
        }
        known.say(confirm);
        const Stranger next(served.server->url());
        CHECK(is_served(known));
    }
}

TEST_CASE("an address with many silent connections loses its own, not those of others") {
    const Served served;
    Stranger other(served.server->url(), "127.0.0.9"); // older than every one of the crowd
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 200; ++i) crowd.push_back(std::make_unique<Stranger>(served.server->url()));
    CHECK(eventually(5s, [&] { return crowd[100]->is_closed(); }));
    CHECK_FALSE(other.is_closed());
}

TEST_CASE("a client whose place goes to another one tries again") {
    asio::io_context io;
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    const std::string url = "plexus://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
    const Key key = random_key();
    std::thread server([&] {
        std::error_code error;
        for (int i = 0; i < 2; ++i) {
            tcp::socket evicted(io);
            acceptor.accept(evicted, error);
            evicted.set_option(asio::socket_base::linger(true, 0), error);
            evicted.close(error); // the destructor would not linger
        }
        tcp::socket client(io);
        acceptor.accept(client, error);
        ServerHandshake handshake(key);
        std::array<std::byte, kHelloBytes> hello;
        asio::read(client, asio::buffer(hello), error);
        asio::write(client, asio::buffer(handshake.take_hello(hello)), error);
    });
    const auto connected = connect(*parse_url(url), key, some_context(), in(5s));
    ::shutdown(acceptor.native_handle(), SHUT_RDWR); // wakes accept() if nobody came any more
    server.join();
    CHECK(connected);
}

TEST_CASE("a server that resets every connection is given up with a word") {
    asio::io_context io;
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    const std::string url = "plexus://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
    std::atomic<int> tries{0};
    std::thread server([&] {
        for (std::error_code error; !error;) {
            tcp::socket evicted(io);
            acceptor.accept(evicted, error);
            if (error) break;
            ++tries;
            evicted.set_option(asio::socket_base::linger(true, 0));
            evicted.close(); // the destructor would not linger
        }
    });
    const auto deadline = in(2s);
    const auto refused = connect(*parse_url(url), random_key(), some_context(), deadline);
    const auto early = deadline - Clock::now();
    ::shutdown(acceptor.native_handle(), SHUT_RDWR);
    server.join();
    REQUIRE(refused.status() == Status::busy);
    CHECK(mentions(refused.failure(), "too many others"));
    CHECK(mentions(refused.failure(), "tried "));
    CHECK(tries <= 18);   // with pauses that double
    CHECK(early < 250ms); // the longest pause
}

TEST_CASE("a client that holds the key but sends nonsense loses its own connection only") {
    const auto expected = plexus::testing::expect_warning("its connection is closed");
    const Served served;
    const auto good = join(served.server->url(), served.key, some_context(), in(5s)).value();
    REQUIRE(good->publish("kept", bytes_of("1")));
    std::mt19937 random(5);
    const std::vector<Bytes> nonsense = {
        Bytes(4, std::byte{0xff}), Bytes(4, std::byte{0}),
        Bytes{std::byte{5}, {}, {}, {}, std::byte{77}, {}, {}, {}, {}},
        Bytes{std::byte{6}, {}, {}, {}, std::byte{2}, {}, {}, {}, {}, std::byte{9}}};
    for (const Bytes& bytes : nonsense) {
        auto connection = connect(*parse_url(served.server->url()), served.key, some_context(), in(5s));
        REQUIRE(connection);
        asio::io_context io;
        tcp::socket socket(io, connection->protocol, connection->socket.release());
        asio::write(socket, asio::buffer(bytes));
        std::error_code error;
        std::array<std::byte, 16> room;
        socket.non_blocking(true);
        CHECK(eventually(5s, [&] {
            socket.read_some(asio::buffer(room), error);
            return error && error != asio::error::would_block;
        }));
    }
    CHECK(expected.count() == nonsense.size());
    CHECK(text_of(*ask(*good, "kept", 5s).get()) == "1");
}

TEST_CASE("nobody at the URL is said at once") {
    std::string url;
    {
        const Served served;
        url = served.server->url();
    }
    const auto start = Clock::now();
    const auto refused = join(url, random_key(), some_context(), in(10s));
    REQUIRE(refused.status() == Status::not_found);
    CHECK(mentions(refused.failure(), "nobody listens at " + url));
    CHECK(Clock::now() - start < 5s);
    CHECK(join("plexus://no-such-host.invalid:1", random_key(), some_context(), in(5s)).status() ==
          Status::not_found);
    CHECK(join("no url", random_key(), some_context(), in(5s)).status() == Status::bad_argument);
}

TEST_CASE("another kind of server is recognised") {
    const OtherServer chatty("SSH-2.0-OpenSSH_9.2\r\n");
    const auto refused = join(chatty.url(), random_key(), some_context(), in(5s));
    REQUIRE(refused.status() == Status::wrong_peer);
    CHECK(mentions(refused.failure(), "not a Plexus directory"));
}

TEST_CASE("a server that says nothing is given up at the deadline") {
    const OtherServer silent("");
    const auto start = Clock::now();
    const auto refused = join(silent.url(), random_key(), some_context(), in(100ms));
    const auto waited = Clock::now() - start;
    REQUIRE(refused.status() == Status::timed_out);
    CHECK(waited >= 100ms);
    CHECK(waited < 2s * kPatience);
}

TEST_CASE("a directory that asks instead of answering is given up") {
    Frame question;
    question.kind = Kind::lookup;
    question.request = 1; // the client's own first
    question.name = "name";
    const FalseDirectory asks(encode(question));
    const auto guest = join(asks.url(), asks.key, some_context(), in(5s)).value();
    const auto refused = ask(*guest, "name", 10s).get();
    REQUIRE(refused.status() == Status::peer_lost);
    CHECK(mentions(refused.failure(), "means nothing"));
}

TEST_CASE("a directory that does not answer any more is given up some seconds after the deadline") {
    const FalseDirectory silent({});
    const auto guest = join(silent.url(), silent.key, some_context(), in(5s)).value();
    const auto refused = ask(*guest, "name", 10ms).get();
    REQUIRE(refused.status() == Status::peer_lost);
    CHECK(mentions(refused.failure(), "it does not answer any more"));
}

TEST_CASE("a server that forges the answer is not trusted") {
    std::string answer("PLXSBOO\x01", 8);
    answer.append(kAnswerBytes - kMagicBytes, 'z');
    const OtherServer server(answer);
    const auto refused = join(server.url(), random_key(), some_context(), in(5s));
    REQUIRE(refused.status() == Status::denied);
    CHECK(mentions(refused.failure(), "key"));
}

} // namespace strangers_test
