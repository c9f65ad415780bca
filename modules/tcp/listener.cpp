// SPDX-License-Identifier: BSD-3-Clause
#include "tcp/listener.h"

#include "tcp/module.h"
#include "tcp/socket.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>

namespace plexus::tcp {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsPerTurn = 16;
constexpr auto kPauseAfterShortage = std::chrono::milliseconds(100);
constexpr int kPortTries = 16; // where any port will do but all addresses must share it

std::uint16_t port_of(int socket) {
    asio::ip::tcp::endpoint endpoint;
    auto size = static_cast<socklen_t>(endpoint.capacity());
    if (::getsockname(socket, endpoint.data(), &size) != 0) return 0;
    endpoint.resize(size);
    return endpoint.port();
}

// Errno, or 0 and a listening socket.
int listen_on(const asio::ip::address& address, std::uint16_t port, const SocketOptions& options,
              module::OwnedFd& out) {
    module::OwnedFd socket(make_socket(address.is_v4()));
    if (!socket) return errno;
    const int yes = 1;
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.is_v6()) (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    apply(socket.get(), options); // accepted sockets inherit it, and window scaling needs it early
    const asio::ip::tcp::endpoint endpoint(address, port);
    if (::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) return errno;
    if (::listen(socket.get(), kBacklog) != 0) return errno;
    out = std::move(socket);
    return 0;
}

} // namespace

Door::Door(Listener& listener, module::OwnedFd socket)
  : Watched(listener.module().poller())
  , listener_(listener)
  , socket_(std::move(socket)) {
    (void)poller().add(socket_.get(), EPOLLIN, *this);
}

void Door::ready(std::uint32_t, std::uint32_t, std::uint32_t& handled) {
    for (int i = 0; open_ && i < kAcceptsPerTurn; ++i) {
        module::OwnedFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket) {
            if (!is_shortage(errno)) return; // nobody there any more
            listener_.report_shortage(errno);
            open(false);
            set_deadline(Clock::now() + kPauseAfterShortage);
            return;
        }
        ++handled;
        if (!listener_.admit(std::move(socket))) return;
    }
}

void Door::expired() { open(true); }

void Door::open(bool yes) {
    if (std::exchange(open_, yes) == yes) return;
    poller().change(socket_.get(), yes ? static_cast<std::uint32_t>(EPOLLIN) : 0U, *this);
}

Stranger::Stranger(Listener& listener, module::OwnedFd socket)
  : Watched(listener.module().poller())
  , listener_(listener)
  , socket_(std::move(socket))
  , handshake_(module::Handshake::accepting(listener.module().host())) {
    set_deadline(Clock::now() + listener.module().options().handshake_timeout);
    (void)poller().add(socket_.get(), EPOLLIN, *this);
}

void Stranger::ready(std::uint32_t, std::uint32_t, std::uint32_t& handled) {
    for (;;) {
        const std::size_t wanted = handshake_.wanted_bytes();
        const ssize_t got = ::recv(socket_.get(), record_.data() + got_, wanted - got_, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got < 0) return turn_away(system_text(errno));
        if (got == 0) return turn_away("it left before it had proved that it holds the job's key");
        got_ += static_cast<std::size_t>(got);
        if (got_ < wanted) return;

        got_ = 0;
        ++handled;
        const std::int32_t verdict = handshake_.feed(std::span(record_).first(wanted));
        const bool answered = answer();
        if (verdict == PLEXUS_WRONG_PEER) return turn_away("it looks for another context");
        if (verdict != PLEXUS_AGAIN && verdict != PLEXUS_OK)
            return turn_away("it does not hold the job's key, or does not speak this protocol");
        if (!answered) return turn_away("it takes no answer");
        if (verdict == PLEXUS_OK) {
            listener_.module().welcome(std::move(socket_), handshake_.peer());
            listener_.leave(*this);
            return;
        }
    }
}

void Stranger::expired() { turn_away("it was silent for longer than handshake_timeout"); }

// A few bytes into an empty socket: all of them fit, or the other side plays games.
bool Stranger::answer() {
    const auto bytes = handshake_.take_outgoing();
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
}

void Stranger::turn_away(const std::string& why) {
    listener_.module().log(PLEXUS_DEBUG,
                           "a connection from " + peer_text(socket_.get()) + " was closed: " + why);
    listener_.leave(*this);
}

int Listener::bind(const std::vector<Interface>& where, std::uint16_t first_port, std::uint16_t last_port) {
    std::string failed;
    int error = 0;
    for (unsigned port = first_port; port <= last_port; ++port) {
        for (int i = 0; i < (port == 0 ? kPortTries : 1); ++i) {
            error = bind_all(where, static_cast<std::uint16_t>(port), failed);
            if (error == 0) break;
        }
        if (error != EADDRINUSE && error != EACCES) break; // another port would fare no better
    }
    if (error == 0) {
        for (module::OwnedFd& socket : bound_)
            doors_.push_back(std::make_unique<Door>(*this, std::move(socket)));
        bound_.clear();
        return 0;
    }
    std::string text = "nothing can be listened on at " + failed + ": " + system_text(error);
    if (error == EADDRINUSE) {
        text = first_port == last_port
                   ? "port " + std::to_string(first_port) + " is taken (" + failed + ": " +
                         system_text(error) + ")"
                   : "every port from " + std::to_string(first_port) + " to " + std::to_string(last_port) +
                         " is taken (" + failed + ": " + system_text(error) + ")";
        text += "; set port to another one, to a range, or to 0 for any that is free";
    }
    module_.log(PLEXUS_ERROR, text);
    return error;
}

// An address family that the kernel lacks is left out as long as another works.
int Listener::bind_all(const std::vector<Interface>& where, std::uint16_t port, std::string& failed) {
    bound_.clear();
    addresses_.clear();
    port_ = port;
    for (const Interface& one : where) {
        module::OwnedFd socket;
        const int error = listen_on(one.address, port_, module_.options().socket, socket);
        if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) continue;
        if (error != 0) {
            failed = text_of({one.address, port_});
            return error;
        }
        if (port_ == 0) port_ = port_of(socket.get());
        bound_.push_back(std::move(socket));
        addresses_.push_back(one.address);
    }
    if (!bound_.empty()) return 0;
    failed = "the configured addresses";
    return EADDRNOTAVAIL;
}

bool Listener::admit(module::OwnedFd socket) {
    strangers_.push_back(std::make_unique<Stranger>(*this, std::move(socket)));
    if (strangers_.size() < kMostStrangers) return true;
    for (const auto& door : doors_) door->open(false); // the rest waits in the kernel's queue
    return false;
}

void Listener::leave(Stranger& stranger) {
    const auto found = std::find_if(strangers_.begin(), strangers_.end(),
                                    [&](const auto& one) { return one.get() == &stranger; });
    if (strangers_.size() == kMostStrangers)
        for (const auto& door : doors_) door->open(true);
    module_.poller().retire(std::move(*found));
    *found = std::move(strangers_.back());
    strangers_.pop_back();
}

void Listener::report_shortage(int error) {
    const auto now = Clock::now();
    if (now < quiet_until_) return;
    quiet_until_ = now + std::chrono::minutes(1);
    module_.log(PLEXUS_WARN, "new connections have to wait, for the process can't open another socket: " +
                                 system_text(error) + "; raise its limit of open files");
}

} // namespace plexus::tcp
