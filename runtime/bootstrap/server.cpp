// SPDX-License-Identifier: BSD-3-Clause
// The socket that a directory is served on: listens, accepts clients, and bounds how many of them have not
// yet proved the key. A new client is accepted however many of these there are: the oldest silent one of the
// address with the most silent ones makes room. What clients send is handled by their sessions. One io
// thread.
#include "base/log.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "bootstrap/io_thread.h"
#include "bootstrap/session.h"
#include "bootstrap/url.h"

#include <algorithm>
#include <asio/post.hpp>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <list>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <set>
#include <sys/socket.h>

namespace plexus::bootstrap {
namespace {

using asio::ip::tcp;

/// A listening socket that no child process inherits.
Result<UniqueFd> listen_at(const tcp::endpoint& endpoint, const Url& url) {
    UniqueFd fd(
        ::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!fd) return fail(Status::not_found, "{} cannot be opened: {}", to_string(url), std::strerror(errno));
    const int on = 1;
    // A port whose last owner has just ended may be taken again; one in use may not.
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0 &&
        ::listen(fd.get(), SOMAXCONN) == 0)
        return fd;
    const std::string why = std::strerror(errno);
    if (errno == EADDRINUSE)
        return fail(
            Status::busy,
            "port {} of {} is taken by another program ({}): choose another one, or 0 for any that is free",
            url.port, url.host, why);
    if (errno == EADDRNOTAVAIL)
        return fail(Status::not_found, "{} is no address of this host ({}): use one of its own, or 127.0.0.1",
                    url.host, why);
    if (errno == EACCES)
        return fail(Status::denied, "port {} is reserved ({}): choose one above 1023", url.port, why);
    return fail(Status::not_found, "{} cannot be listened at: {}", to_string(url), why);
}

/// The host that others should use: what was asked for, unless that means "everywhere".
std::string host_to_tell(const Url& url, const tcp::endpoint& bound) {
    if (!bound.address().is_unspecified()) return url.host;
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

constexpr std::string_view kCame = "plexus.came.";
constexpr int kAcceptsPerTurn = 16;

std::optional<std::uint32_t> rank_that_came(std::string_view name) {
    if (!name.starts_with(kCame)) return {};
    name.remove_prefix(kCame.size());
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
    if (error != std::errc{} || end != name.data() + name.size()) return {};
    return rank;
}

void tune(int fd) {
    const int on = 1;
    const int idle_seconds = 10;
    const int probe_seconds = 5;
    const int probes = 3;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // A client whose host is down is noticed within half a minute.
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds, sizeof probe_seconds);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

} // namespace

std::string came_name(std::uint32_t rank) { return fmt::format("{}{}", kCame, rank); }

class DirectoryServer::Impl {
  public:
    Impl(UniqueFd listener, const tcp::endpoint& bound, std::string told_url, const Key& key,
         std::uint32_t members)
      : url_(std::move(told_url))
      , key_(key)
      , members_(members)
      , most_unauthenticated_(64 + std::size_t{2} * members)
      , protocol_(bound.protocol())
      , acceptor_(*thread_.io(), protocol_, listener.release())
      , pause_(*thread_.io())
      , registry_(std::make_shared<Registry>(thread_.io(), members)) {
        asio::post(*thread_.io(), [this] { accept_when_ready(); });
    }

    ~Impl() {
        registry_->close();
        asio::post(*thread_.io(), [this] { close(); });
        thread_.finish();
    }

    const std::string& url() const noexcept { return url_; }
    std::shared_ptr<Directory> view() const { return view_of(registry_, url_, nullptr); }

    void wait_for_clients(std::uint32_t ranks, Clock::time_point all_come) {
        Lock hold(clients_mutex_);
        while (clients_.here > 0 || (clients_.came.size() < ranks && Clock::now() < all_come)) {
            if (clients_.here > 0) {
                clients_changed_.wait(clients_mutex_);
            } else {
                clients_changed_.wait_until(clients_mutex_, all_come);
            }
        }
    }

  private:
    /// Clients that have proved the key.
    struct Clients {
        std::uint32_t here = 0;
        std::set<std::uint32_t> came; ///< ranks of the job, ever
    };

    template <class Change>
    void count_clients(Change change) {
        Lock hold(clients_mutex_);
        change(clients_);
        clients_changed_.notify_all();
    }

    void accept_when_ready() {
        acceptor_.async_wait(tcp::acceptor::wait_read, [this](const std::error_code& error) {
            if (!error) accept_some();
        });
    }

    void accept_some() {
        // Not Asio's accept: no child process may inherit the socket, not even one that
        // another thread forks at this very moment. Not without end: the sessions have their turn in between.
        for (int i = 0; i < kAcceptsPerTurn; ++i) {
            const int fd =
                ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (fd >= 0) {
                admit(fd);
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                break;
            } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                log::warn("bootstrap", "the directory cannot accept a client: {}", std::strerror(errno));
                pause_.expires_after(std::chrono::milliseconds(100));
                return pause_.async_wait([this](const std::error_code& error) {
                    if (!error) accept_when_ready();
                });
            } // else: the client has closed its connection already
        }
        accept_when_ready();
    }

    void admit(int fd) {
        tune(fd);
        while (unauthenticated_.size() >= most_unauthenticated_) make_room();
        const auto session = std::make_shared<Session>(
            thread_.io(), tcp::socket(*thread_.io(), protocol_, fd), key_, registry_,
            Session::Events{
                [this](const std::shared_ptr<Session>& known) { counts_.remove(known->source()); },
                [this](const std::shared_ptr<Session>& in) {
                    unauthenticated_.remove(in);
                    count_clients([](Clients& clients) { ++clients.here; });
                },
                [this](std::string_view name) {
                    if (const auto rank = rank_that_came(name); rank && *rank < members_)
                        count_clients([&](Clients& clients) { clients.came.insert(*rank); });
                },
                [this](const std::shared_ptr<Session>& gone) { forget(gone); }});
        unauthenticated_.push_back(session);
        counts_.add(session->source());
        sessions_.insert(session);
        session->start();
    }

    void make_room() {
        const auto first = counts_.eviction_victim(unauthenticated_)->shared_from_this();
        // Its hello, or its confirm record, may be unread in its socket: it keeps its place for either.
        if (!first->hear()) first->evict("others came after it, and it had not proved the job's key yet");
    }

    void forget(const std::shared_ptr<Session>& gone) {
        sessions_.erase(gone);
        if (gone->is_silent()) counts_.remove(gone->source());
        if (unauthenticated_.remove(gone) == 0) count_clients([](Clients& clients) { --clients.here; });
    }

    void close() {
        std::error_code ignored;
        acceptor_.close(ignored);
        pause_.cancel();
        const auto leaving = sessions_;
        for (const auto& session : leaving) session->end("the directory is closing");
    }

    const std::string url_;
    const Key key_;
    const std::uint32_t members_;
    const std::size_t most_unauthenticated_;
    const tcp protocol_;
    IoThread thread_; // after the members that its work reads, before the members that need it
    tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    RankedMutex<20> clients_mutex_;
    std::condition_variable_any clients_changed_;
    Clients clients_ PLEXUS_GUARDED_BY(clients_mutex_);
    std::set<std::shared_ptr<Session>> sessions_;
    std::list<std::shared_ptr<Session>> unauthenticated_; // have not proved the key; oldest first
    ConnectionCounts counts_;                             // those of them that are silent
    const std::shared_ptr<Registry> registry_;
};

Result<std::unique_ptr<DirectoryServer>> DirectoryServer::listen(const std::string& url, const Key& key,
                                                                 std::uint32_t members) {
    if (members == 0) return fail(Status::bad_argument, "a directory needs at least one member");
    const auto parsed = parse_url(url);
    if (!parsed) return parsed.failure();
    const auto endpoints = resolve(*parsed);
    if (!endpoints) return endpoints.failure();
    Failure first{Status::ok, {}};
    for (const tcp::endpoint& endpoint : *endpoints) {
        auto listener = listen_at(endpoint, *parsed);
        if (!listener) {
            if (first.status == Status::ok) first = listener.failure();
            continue;
        }
        tcp::endpoint bound;
        socklen_t room = static_cast<socklen_t>(bound.capacity());
        if (::getsockname(listener->get(), bound.data(), &room) != 0)
            return fail(Status::not_found, "{} has no address: {}", url, std::strerror(errno));
        bound.resize(room);
        const std::string told = to_string(Url{host_to_tell(*parsed, bound), bound.port()});
        return std::unique_ptr<DirectoryServer>(
            new DirectoryServer(std::make_unique<Impl>(std::move(*listener), bound, told, key, members)));
    }
    return first;
}

DirectoryServer::DirectoryServer(std::unique_ptr<Impl> impl)
  : impl_(std::move(impl)) {}
DirectoryServer::~DirectoryServer() = default;
const std::string& DirectoryServer::url() const noexcept { return impl_->url(); }
std::shared_ptr<Directory> DirectoryServer::local() { return impl_->view(); }
void DirectoryServer::wait_for_clients(std::uint32_t ranks, Clock::time_point all_come) {
    impl_->wait_for_clients(ranks, all_come);
}

} // namespace plexus::bootstrap
