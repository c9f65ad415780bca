// SPDX-License-Identifier: BSD-3-Clause
// Contexts over the method, and others who want in or stand between: bytes that are altered or repeated on
// the way, a client that speaks TLS 1.2 at most, a member of another job. None of them reaches a handler, the
// log says why in a line, and those who call meanwhile by links of their own notice nothing.
#include "contexts.h"

#include "base/log.h"
#include "proxy.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/log_guard.h"
#include "support/tmpdir.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

namespace on_the_way_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::tls_contexts;

namespace {

struct Log {
    std::vector<std::uint64_t> numbers;
    std::size_t damaged = 0; ///< payloads that do not belong to their number
};
constexpr Request<std::uint64_t(Log&, std::uint64_t, Payload)> note{"on_the_way.note"};
constexpr Request<Payload(Log&, Payload)> mirror{"on_the_way.mirror"};

Payload payload_for(std::uint64_t number) { return payload_of(300 + number % 7); }

/// A server with one handler, at a port that is known beforehand.
struct Server {
    explicit Server(const std::string& over, Options made = {})
      : port(free_port()) {
        const Options common = options("tls?over=" + over);
        for (const auto& [key, value] : common.set) made.set.emplace(key, value);
        made.set["log"] = "debug";
        const std::string listens = over.empty() ? "method.tls." : "method.tcp.";
        made.set[listens + "listen"] = "127.0.0.1";
        made.set[listens + "port"] = std::to_string(port);
        context = std::make_unique<Context>(made);
        context->on(note, [](Log& log, std::uint64_t number, const Payload& payload) {
            log.damaged += payload == payload_for(number) ? 0 : 1;
            log.numbers.push_back(number);
            return number;
        });
        context->on(mirror, [](Log&, const Payload& payload) { return payload; });
        for (Log& log : logs) bounds.push_back(std::make_unique<Bound<Log>>(context->bind(log)));
    }
    std::vector<std::byte> saved(std::size_t log) const { return bounds[log]->pointer().save(); }

    const std::uint16_t port;
    Log logs[2]; ///< of him who is disturbed, or disturbs; of an honest caller
    std::unique_ptr<Context> context;
    std::vector<std::unique_ptr<Bound<Log>>> bounds;
};

/// Calls with the next number.
struct Caller {
    Caller(const std::string& over, const std::vector<std::byte>& saved, Options made = {}) {
        const Options common = options("tls?over=" + over);
        for (const auto& [key, value] : common.set) made.set.emplace(key, value);
        made.set["log"] = "debug";
        context = std::make_unique<Context>(made);
        log = GlobalPointer<Log>::load(*context, saved);
    }
    bool call() {
        const std::uint64_t number = next++;
        return log.call(note, number, payload_for(number)).get() == number;
    }

    std::unique_ptr<Context> context;
    GlobalPointer<Log> log;
    std::uint64_t next = 0;
};

/// All lines of the log, from here to the end of the scope.
class Lines {
  public:
    Lines() {
        log::set_sink([this](log::Level level, std::string_view, std::string_view text) {
            const std::lock_guard hold(mutex_);
            lines_.emplace_back(level, text);
        });
    }
    ~Lines() { watch_log(); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    std::size_t with(std::string_view part) const {
        const std::lock_guard hold(mutex_);
        return static_cast<std::size_t>(std::count_if(lines_.begin(), lines_.end(), [&](const auto& line) {
            return line.second.find(part) != std::string::npos;
        }));
    }
    /// Warnings and errors.
    std::vector<std::string> loud() const {
        std::vector<std::string> out;
        const std::lock_guard hold(mutex_);
        for (const auto& [level, text] : lines_)
            if (level >= log::Level::warn) out.push_back(text);
        return out;
    }
    std::string all() const {
        std::string out;
        const std::lock_guard hold(mutex_);
        for (const auto& line : lines_) out += line.second + "\n";
        return out;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::pair<log::Level, std::string>> lines_;
};

/// Each number once, in order, and what came with it.
bool is_complete(const Log& log, std::uint64_t count) {
    if (log.damaged != 0 || log.numbers.size() != count) return false;
    for (std::uint64_t i = 0; i < count; ++i)
        if (log.numbers[i] != i) return false;
    return true;
}

/// A job's key in a file.
Options of_job(const TmpDir& folder, char digit) {
    const std::string path = folder.file(std::string("key") + digit, std::string(64, digit)).string();
    std::filesystem::permissions(path,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    Options made;
    made.set["job.key_file"] = path;
    return made;
}

/// A session of OpenSSL's own with the port, TLS 1.2 at most. True: it stands.
bool speaks_older(std::uint16_t port) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                    SSL_CTX_free);
    SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    const std::unique_ptr<SSL, decltype(&SSL_free)> session(SSL_new(context.get()), SSL_free);
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{10, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    REQUIRE(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    SSL_set_fd(session.get(), socket.get());
    return SSL_connect(session.get()) == 1;
}

} // namespace

TEST_CASE(
    "what is altered or repeated on the way breaks the link, and each request is handled once all the same") {
    const std::string over = GENERATE("", "tcp");
    const Proxy::Deed deed = GENERATE(Proxy::Deed::alter, Proxy::Deed::repeat);
    CAPTURE(over, deed == Proxy::Deed::alter);
    const Lines lines;
    Server server(over);
    Proxy proxy(server.port);
    Caller disturbed(over, redirected(server.saved(0), server.port, proxy.port()));
    Caller honest(over, server.saved(1));
    for (int i = 0; i < 10; ++i) REQUIRE((disturbed.call() && honest.call()));
    REQUIRE(proxy.taken() == 1);
    proxy.disturb(deed);
    for (int i = 0; i < 40; ++i) REQUIRE((disturbed.call() && honest.call()));
    CHECK(proxy.is_done());
    // The link breaks, and whoever has something to send makes another: the server past the proxy.
    CHECK(eventually(10s, [&] { return lines.with("decryption failed or bad record mac") == 1; }));
    for (int i = 0; i < 10; ++i) REQUIRE((disturbed.call() && honest.call()));
    CHECK(is_complete(server.logs[0], 60));
    CHECK(is_complete(server.logs[1], 60));
    CAPTURE(lines.all());
    CHECK(lines.with("decryption failed or bad record mac") == 1);
    CHECK(lines.loud().empty());
}

TEST_CASE("a message that is under way for longer than limits.silence arrives by the link that it began on") {
    const std::string method = GENERATE("tcp", "tls?over=", "tls?over=tcp");
    CAPTURE(method);
    Options impatient;
    impatient.set["methods"] = method;
    impatient.set["limits.silence"] = "600 ms";
    const std::string over = method == "tls?over=" ? "" : "tcp";
    Server server(over, impatient);
    Proxy proxy(server.port);
    Caller caller(over, redirected(server.saved(0), server.port, proxy.port()), impatient);
    REQUIRE(caller.call());
    const Payload large = payload_of(2 * kMiB);
    proxy.slow_down(kMiB); // there and back
    const auto start = std::chrono::steady_clock::now();
    CHECK(caller.log.call(mirror, large).get() == large);
    CHECK(std::chrono::steady_clock::now() - start > 3s);
    CHECK(proxy.taken() == 1);
}

TEST_CASE("a client that speaks TLS 1.2 at most is refused beside a caller who notices nothing") {
    const auto expected = expect_warning("the peer speaks no TLS 1.3");
    Server server("");
    Caller honest("", server.saved(1));
    REQUIRE(honest.call());
    CHECK_FALSE(speaks_older(server.port));
    for (int i = 0; i < 20; ++i) REQUIRE(honest.call());
    CHECK(server.logs[0].numbers.empty());
    CHECK(is_complete(server.logs[1], 21));
    CHECK(expected.count() == 1);
}

TEST_CASE("a context of another job reaches no handler by any way, and others of the job are not disturbed") {
    const std::string over = GENERATE("", "tcp", "shm");
    CAPTURE(over);
    const TmpDir folder;
    const Lines lines;
    Server server(over, of_job(folder, '7'));
    Caller honest(over, server.saved(1), of_job(folder, '7'));
    REQUIRE(honest.call());
    Caller stranger(over, server.saved(0), of_job(folder, '8'));
    for (int i = 0; i < 3; ++i) {
        CHECK_THROWS_AS(stranger.call(), Error);
        REQUIRE(honest.call());
    }
    CHECK(server.logs[0].numbers.empty());
    CHECK(is_complete(server.logs[1], 4));
    CAPTURE(lines.all());
    // A method that runs below refuses by itself, with its own line for each attempt.
    const char* const why = over.empty()    ? "no TLS: binder does not verify"
                            : over == "tcp" ? "closed: it does not hold the job's key"
                                            : "turned away: the peer does not hold this job's key";
    CHECK(lines.with(why) >= 1);
    CHECK(lines.with(why) <= (over.empty() ? 1 : 2));
    CHECK(lines.loud().size() == (over.empty() ? 1 : 0));
}

} // namespace on_the_way_test
