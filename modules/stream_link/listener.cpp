// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/listener.h"

#include "plexus/module/handshake.h"
#include "stream_link/module.h"
#include "stream_link/socket.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace plexus::stream_link {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsPerTurn = 16;
constexpr auto kPauseAfterShortage = std::chrono::milliseconds(100);
constexpr int kReadsPerTurn = 32; // of one stranger: whoever has more to say waits for the others
constexpr int kPortTries = 16;    // where any port will do but all addresses must share it

std::uint16_t port_of(int socket) {
    asio::ip::tcp::endpoint endpoint;
    auto size = static_cast<socklen_t>(endpoint.capacity());
    if (::getsockname(socket, endpoint.data(), &size) != 0) return 0;
    endpoint.resize(size);
    return endpoint.port();
}

// Errno, or 0 and a listening socket.
int listen_on(const asio::ip::address& address, std::uint16_t port, const Options& options, UniqueFd& out) {
    UniqueFd socket(make_socket(address.is_v4()));
    if (!socket) return errno;
    const int yes = 1;
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.is_v6()) (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (options.subnet && !keep_in_subnet(socket.get(), address.is_v4())) return errno; // accepted ones, too
    apply(socket.get(), options.socket); // accepted sockets inherit it, and window scaling needs it early
    const asio::ip::tcp::endpoint endpoint(address, port);
    if (::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) return errno;
    if (::listen(socket.get(), kBacklog) != 0) return errno;
    out = std::move(socket);
    return 0;
}

// The system looks for a free descriptor before it looks for a connection.
bool is_waited_at(int socket) {
    pollfd item{socket, POLLIN, 0};
    return ::poll(&item, 1, 0) > 0;
}

Stranger::Source source_of(const asio::ip::address& address) {
    return address.is_v4() ? ConnectionCounts::source_of(address.to_v4().to_bytes())
                           : ConnectionCounts::source_of(address.to_v6().to_bytes());
}

} // namespace

Door::Door(Listener& listener)
  : Watched(listener.module().loop().poller())
  , listener_(listener)
  , socket_(listener.module().loop().poller()) {}

void Door::ready(std::uint32_t, std::uint32_t, std::uint32_t& handled) {
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
        asio::ip::tcp::endpoint from;
        auto size = static_cast<socklen_t>(from.capacity());
        UniqueFd socket(::accept4(socket_.get(), from.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!socket) {
            const int error = errno;
            if (!is_shortage(error) || !is_waited_at(socket_.get())) return; // no connection waits any more
            listener_.report_shortage(error);
            if (listener_.make_room()) continue;
            open(false);
            set_deadline(Clock::now() + kPauseAfterShortage);
            return;
        }
        from.resize(size);
        ++handled;
        listener_.admit(std::move(socket), source_of(from.address()));
    }
}

void Door::expired() { open(true); }

void Door::open(bool yes) {
    if (std::exchange(open_, yes) == yes) return;
    socket_.change(yes ? static_cast<std::uint32_t>(EPOLLIN) : 0U, *this);
}

Stranger::Stranger(Listener& listener, const Source& source)
  : Watched(listener.module().loop().poller())
  , listener_(listener)
  , socket_(listener.module().loop().poller())
  , source_(source)
  , greeting_(listener.module().accepting()) {
    set_deadline(Clock::now() + listener.module().options().handshake_timeout);
}

void Stranger::ready(std::uint32_t, std::uint32_t, std::uint32_t& handled) {
    for (int i = 0; i < kReadsPerTurn && socket_.get() >= 0; ++i) {
        const std::span<std::uint8_t> room = greeting_->room();
        const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got < 0) return turn_away(system_text(errno));
        if (got == 0) return turn_away("it left before it had proved that it may join");
        ++handled;
        const std::int32_t verdict = greeting_->took(static_cast<std::size_t>(got));
        if (greeting_->is_known() && std::exchange(silent_, false)) listener_.greeted(*this);
        const bool answered = answer();
        if (verdict != PLEXUS_AGAIN || !answered) return judge(verdict, answered);
    }
}

void Stranger::judge(std::int32_t verdict, bool answered) {
    switch (verdict) {
    case PLEXUS_AGAIN:
    case PLEXUS_OK:
        break;
    case PLEXUS_WRONG_PEER:
        return turn_away("it looks for another context");
    case PLEXUS_UNSUPPORTED:
        return turn_away("it speaks version " + std::to_string(greeting_->peer_version()) +
                         " of the handshake, this side version " +
                         std::to_string(module::Handshake::kVersion));
    default:
        is_refused_ = !greeting_->why().empty();
        if (is_refused_) drop_unread(socket_.get());
        return turn_away(is_refused_ ? greeting_->why()
                                     : "it does not hold the job's key, or does not speak this protocol");
    }
    if (!answered) return turn_away("it takes no answer");
    listener_.module().welcome(socket_.release(), std::move(greeting_));
    listener_.leave(*this);
}

void Stranger::expired() {
    const std::string from = peer_text(socket_.get());
    socket_.abort();
    turn_away("it was silent for longer than handshake_timeout", from);
}

void Stranger::evict() {
    const std::string from = peer_text(socket_.get());
    socket_.abort();
    turn_away("others came after it, and it had not proved yet that it may join", from);
}

// A few bytes fit into an empty socket, unless the other side is hostile.
bool Stranger::answer() {
    const auto bytes = greeting_->take_outgoing();
    if (bytes.empty()) return true;
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
}

// In order, not by a reset: so the other side can tell a refusal from a lack of room.
void Stranger::turn_away(const std::string& why) {
    const std::string from = peer_text(socket_.get());
    socket_.close();
    turn_away(why, from);
}

void Stranger::turn_away(const std::string& why, const std::string& from) {
    const std::string line = "a connection from " + from + " was closed: " + why;
    if (is_refused_) {
        listener_.module().tell_refusal(line);
    } else {
        listener_.module().log(PLEXUS_DEBUG, line);
    }
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
        if (!is_missing_port(error)) break; // another port would fail as well
    }
    if (error == 0) return watch_all();
    module_.log(PLEXUS_ERROR, why_not_bound(failed, error, module_.options()));
    return error;
}

int Listener::watch_all() {
    for (UniqueFd& socket : bound_) {
        doors_.push_back(std::make_unique<Door>(*this));
        if (doors_.back()->listen(std::move(socket))) continue;
        const int error = errno;
        doors_.clear();
        bound_.clear();
        module_.log(PLEXUS_ERROR, "a listening socket can't be watched: " + system_text(error));
        return error;
    }
    bound_.clear();
    return 0;
}

// An address family that the kernel lacks is left out as long as another works.
int Listener::bind_all(const std::vector<Interface>& where, std::uint16_t port, std::string& failed) {
    bound_.clear();
    addresses_.clear();
    port_ = port;
    for (const Interface& one : where) {
        UniqueFd socket;
        const int error = listen_on(one.address, port_, module_.options(), socket);
        if (is_missing_address(error)) continue;
        if (error != 0) {
            failed = text_of(one.address, port_);
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

void Listener::admit(UniqueFd socket, const Stranger::Source& source) {
    if (strangers_.size() >= kMostStrangers) {
        report_crowd();
        (void)make_room();
    }
    strangers_.push_back(std::make_unique<Stranger>(*this, source));
    counts_.add(source);
    Stranger& stranger = *strangers_.back();
    if (!stranger.can_listen()) return stranger.turn_away("there is no memory to greet it");
    if (!stranger.listen(std::move(socket))) stranger.turn_away("it can't be watched: " + system_text(errno));
}

bool Listener::make_room() {
    while (Stranger* const stranger = counts_.eviction_victim(strangers_)) {
        // The stranger's greeting may be unread in its socket. Only a stranger with a greeting keeps its
        // place.
        const bool silent = stranger->is_silent();
        std::uint32_t handled = 0;
        const std::size_t before = strangers_.size();
        stranger->ready(0, 1, handled);
        if (strangers_.size() < before) return true;
        if (silent && !stranger->is_silent()) continue;
        stranger->evict();
        return true;
    }
    return false;
}

void Listener::greeted(const Stranger& stranger) { counts_.remove(stranger.source()); }

void Listener::leave(Stranger& stranger) {
    if (stranger.is_silent()) greeted(stranger);
    const auto found = std::find_if(strangers_.begin(), strangers_.end(),
                                    [&](const auto& one) { return one.get() == &stranger; });
    module_.loop().poller().retire(std::move(*found));
    strangers_.erase(found);
}

void Listener::report_crowd() {
    const auto now = Clock::now();
    if (now < crowd_quiet_until_) return;
    crowd_quiet_until_ = now + std::chrono::minutes(1);
    module_.log(PLEXUS_INFO, "more than " + std::to_string(kMostStrangers) +
                                 " connections have not proved that they may join; those that "
                                 "have not even sent a greeting are closed, the oldest first");
}

void Listener::report_shortage(int error) {
    const auto now = Clock::now();
    if (now < quiet_until_) return;
    quiet_until_ = now + std::chrono::minutes(1);
    module_.log(PLEXUS_WARN, "new connections have to wait, for the process can't open another socket: " +
                                 system_text(error) + "; raise its limit of open files");
}

} // namespace plexus::stream_link
