// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/connect.h"

#include "base/log.h"
#include "bootstrap/handshake.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace plexus::bootstrap {
namespace {

using asio::ip::tcp;

/// A directory that makes room for others is asked again after so long, then after twice as long, and so on.
constexpr auto kFirstPause = std::chrono::milliseconds(1);
constexpr auto kLongestPause = std::chrono::milliseconds(250);

/// False when the deadline has passed.
bool wait_for(int fd, short events, Clock::time_point deadline) {
    for (;;) {
        // Rounded up: a wait must not end before its deadline and then spin.
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd one{fd, events, 0};
        const int count = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000)));
        if (count > 0) return true;
        if (count < 0 && errno != EINTR) return true; // the next call on it says why
    }
}

Failure no_answer(const Url& url) {
    return fail(Status::timed_out,
                "{} gave no answer in time: is it a Plexus directory, and does a firewall let us through?",
                to_string(url));
}

Failure connection_closed(const Url& url) {
    return fail(
        Status::denied,
        "{} closed the connection: it holds another key (see job.key_file), or it is not a Plexus directory",
        to_string(url));
}

/// The connection has failed, by the error of the call that says so; 0: it was closed in order. Only a reset,
/// by which a directory makes room among strangers, is `busy`.
Failure connection_failed(const Url& url, int error) {
    if (error != ECONNRESET && error != EPIPE) return connection_closed(url);
    return fail(
        Status::busy,
        "{} reset the connection: too many others wait there to prove the job's key, or it is not a Plexus "
        "directory",
        to_string(url));
}

/// Says what was tried before that.
Failure after(int tries, Clock::duration time, Failure last) {
    return fail(last.status, "{} (tried {} times in {} ms)", last.why, tries,
                std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

Result<UniqueFd> connect_to(const tcp::endpoint& endpoint, const Url& url, Clock::time_point deadline) {
    UniqueFd fd(
        ::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!fd) return fail(Status::not_found, "no socket for {}: {}", to_string(url), std::strerror(errno));
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    int error = 0;
    if (::connect(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) error = errno;
    if (error == EINPROGRESS) {
        if (!wait_for(fd.get(), POLLOUT, deadline)) return no_answer(url);
        socklen_t size = sizeof error;
        ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == ECONNREFUSED)
        return fail(Status::not_found,
                    "nobody listens at {} ({}): start the server first, or correct the port", to_string(url),
                    std::strerror(error));
    if (error == ETIMEDOUT) return no_answer(url);
    if (error == ECONNRESET) return connection_failed(url, error);
    if (error != 0)
        return fail(Status::not_found, "{} cannot be reached: {}", to_string(url), std::strerror(error));
    return fd;
}

Result<void> send_all(int fd, std::span<const std::byte> bytes, const Url& url, Clock::time_point deadline) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for(fd, POLLOUT, deadline)) return no_answer(url);
        } else if (errno != EINTR) {
            return connection_failed(url, errno);
        }
    }
    return {};
}

Result<void> receive_all(int fd, std::span<std::byte> bytes, const Url& url, Clock::time_point deadline) {
    while (!bytes.empty()) {
        const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
        if (got > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(got));
        } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!wait_for(fd, POLLIN, deadline)) return no_answer(url);
        } else if (got == 0 || errno != EINTR) {
            return connection_failed(url, got == 0 ? 0 : errno);
        }
    }
    return {};
}

Result<void> prove_ourselves(int fd, const Url& url, const Key& key, const ContextId& who,
                             Clock::time_point deadline) {
    ClientHandshake client(key, who);
    if (auto sent = send_all(fd, client.hello(), url, deadline); !sent) return sent;
    std::array<std::byte, kAnswerBytes> answer;
    const auto magic = std::span(answer).first<kMagicBytes>();
    // First the magic alone: a server of another kind may send less than a whole answer.
    if (auto got = receive_all(fd, magic, url, deadline); !got) return got;
    if (!has_magic(magic))
        return fail(Status::wrong_peer, "what answers at {} is not a Plexus directory: correct the port",
                    to_string(url));
    if (auto got = receive_all(fd, std::span(answer).subspan<kMagicBytes>(), url, deadline); !got) return got;
    const Bytes confirm = client.take_answer(answer);
    if (confirm.empty())
        return fail(Status::denied, "{} does not hold this job's key: see job.key_file", to_string(url));
    return send_all(fd, confirm, url, deadline);
}

} // namespace

Result<Connection> connect(const Url& url, const Key& key, const ContextId& who, Clock::time_point deadline) {
    const auto endpoints = resolve(url);
    if (!endpoints) return endpoints.failure();
    Failure last = no_answer(url);
    std::size_t left = endpoints->size();
    for (const tcp::endpoint& endpoint : *endpoints) {
        // An address that never answers must leave time for the addresses after it.
        const auto now = Clock::now();
        const auto share = now + (deadline - now) / static_cast<int>(left--);
        auto pause = kFirstPause;
        std::optional<Failure> busy; // of the try before
        for (int tries = 1;; ++tries) {
            auto fd = connect_to(endpoint, url, share);
            const Result<void> proved =
                fd ? prove_ourselves(fd->get(), url, key, who, deadline) : fd.failure();
            if (proved) return Connection{std::move(*fd), endpoint.protocol()};
            last = proved.failure();
            if (last.status == Status::busy && Clock::now() + pause < share) {
                busy = std::move(last);
                std::this_thread::sleep_for(pause);
                pause = std::min(2 * pause, kLongestPause);
                continue;
            }
            // Too little time was left for this try: why there is none is what the others met with.
            if (last.status == Status::timed_out && busy) last = std::move(*busy);
            if (last.status == Status::busy) last = after(tries, Clock::now() - now, std::move(last));
            if (fd) return last;
            break;
        }
    }
    return last;
}

} // namespace plexus::bootstrap
