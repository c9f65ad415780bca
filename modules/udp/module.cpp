// SPDX-License-Identifier: BSD-3-Clause
#include "udp/module.h"

#include "common/system_text.h"
#include "common/values.h"
#include "plexus/module/table.h"

#include <algorithm>
#include <cerrno>

namespace plexus::udp {
namespace {

// Guesses: nothing is measured here.
constexpr std::uint64_t kLatencyNs = 25'000;
constexpr std::uint64_t kBandwidth = 1'250'000'000;

} // namespace

// A link's functions.

void Session::disconnect() { module->disconnect(*this); }
std::int32_t Session::set(const char* key, const char*, plexus_text& why) const {
    return plexus::module::set_at_open_only(module->host(), key, why);
}
std::int32_t Session::send(const plexus_view* pieces, std::uint32_t count, void*) {
    return module->send(*this, {pieces, count});
}

// Life.

Module::Module(const plexus_host& host, Options options)
  : host_(host)
  , options_(std::move(options))
  , here_(module::surroundings())
  , incoming_(kMostPayload + 1)
  , sessions_(this, host_, options_, sockets_) {}

Module::~Module() = default;

std::int32_t Module::make(const plexus_host& host, std::unique_ptr<Module>& made) {
    auto options = read_options(host);
    if (!options) return PLEXUS_BAD_CONFIG;
    made = std::make_unique<Module>(host, std::move(*options));
    return made->listen();
}

std::int32_t Module::listen() {
    if (!poller_.usable()) {
        log(PLEXUS_ERROR,
            "no epoll set could be made (" + module::system_text(errno) + "); raise the limit of open files");
        return PLEXUS_UNSUPPORTED;
    }
    const auto where = stream_link::chosen(stream_link::interfaces(), options_.where);
    if (where.empty()) {
        log(PLEXUS_ERROR,
            "no address to listen on: no interface that is up fits listen and interface; set them to "
            "addresses that the command \"ip addr\" shows");
        return PLEXUS_BAD_CONFIG;
    }
    std::string why;
    if (const int error = sockets_.bind(where, options_.where, why); error != 0) {
        log(PLEXUS_ERROR, why);
        return error == EADDRINUSE ? PLEXUS_BUSY : PLEXUS_BAD_CONFIG;
    }
    for (std::size_t i = 0; i < sockets_.count(); ++i) {
        readers_.push_back(std::make_unique<Reader>(*this, i));
        if (!poller_.add(sockets_.fd(i), EPOLLIN, *readers_.back())) {
            log(PLEXUS_ERROR, "a socket can't be watched (" + module::system_text(errno) +
                                  "); raise fs.epoll.max_user_watches, or see what memory is left");
            return PLEXUS_UNSUPPORTED;
        }
    }
    self_ = {here_, sockets_.port(), sockets_.addresses()};
    return PLEXUS_OK;
}

void Module::close() {
    const Lock hold(mutex_);
    closing_ = true;
}

void Module::drain() {
    close();
    const Lock hold(mutex_);
    sessions_.end_all(poller_.is_own_process());
    for (std::size_t i = 0; i < sockets_.count(); ++i)
        if (const int fd = sockets_.release(i); fd >= 0) poller_.close(fd);
}

// Addresses.

std::int32_t Module::describe(plexus_rows& rows) const {
    const auto bytes = self_.encode();
    return module::add_row(rows, "", module::view(bytes.data(), bytes.size()));
}

std::vector<Path> Module::paths_to(plexus_view descriptor, std::string& why) const {
    const auto there = stream_link::Descriptor::decode(descriptor);
    if (!there) {
        why = "the descriptor is damaged";
        return {};
    }
    const std::vector<asio::ip::address> addresses = there->reachable_from(here_);
    std::vector<Path> paths;
    for (const asio::ip::address& address : addresses)
        if (const auto path = sockets_.path_to({address, there->port})) paths.push_back(*path);
    if (!paths.empty()) return paths;
    if (addresses.empty()) {
        why = there->why_not(here_);
        return {};
    }
    why = "no socket of this side reaches ";
    for (const asio::ip::address& address : addresses)
        why += (address == addresses.front() ? "" : ", ") + stream_link::text_of(address, there->port);
    why += ": let listen and interface select an address of that kind here";
    return {};
}

std::int32_t Module::applies(plexus_view descriptor, plexus_text& why) const {
    std::string reason;
    if (!paths_to(descriptor, reason).empty()) return PLEXUS_OK;
    module::write(why, reason);
    return PLEXUS_NO_METHOD;
}

std::int32_t Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie,
                             plexus_link** link) {
    std::string why;
    std::vector<Path> paths = paths_to(descriptor, why);
    if (paths.empty()) return PLEXUS_LINK_LOST; // applies() has said why
    const Lock hold(mutex_);
    if (closing_) return PLEXUS_LINK_LOST;
    *link = reinterpret_cast<plexus_link*>(&sessions_.dial(peer, std::move(paths), cookie));
    if (std::exchange(armed_, false)) poller_.wake();
    return PLEXUS_OK;
}

// Data.

std::int32_t Module::send(Session& session, std::span<const plexus_view> pieces) {
    const Lock hold(mutex_);
    if (closing_) return PLEXUS_LINK_LOST;
    const std::int32_t status = sessions_.send(session, pieces);
    if (status == PLEXUS_LINK_LOST && std::exchange(armed_, false)) poller_.wake(); // it may be due now
    return status;
}

void Module::disconnect(Session& session) {
    const Lock hold(mutex_);
    if (poller_.is_own_process()) sessions_.give_up(session);
}

void Module::Reader::ready(std::uint32_t, std::uint32_t budget, std::uint32_t& handled) {
    for (std::uint32_t i = 0; i < std::max(budget, 1U); ++i) {
        Path from{socket_, {}};
        const auto got = module_.sockets_.receive(socket_, module_.incoming_, from.peer);
        if (got < 0) return;
        ++handled;
        module_.take(from, {module_.incoming_.data(), static_cast<std::size_t>(got)});
    }
}

void Module::take(const Path& from, Bytes datagram) {
    Event event;
    {
        const Lock hold(mutex_);
        const bool hello = !datagram.empty() && datagram[0] == static_cast<std::uint8_t>(Kind::hello);
        if (closing_ && hello) return;
        event = sessions_.take(from, datagram);
    }
    if (event.what != Event::What::nothing) tell(event);
}

bool Module::given_up(const Session& session) const {
    const Lock hold(mutex_);
    return session.given_up;
}

// No lock is held: what is called may send, connect and disconnect.
void Module::tell(const Event& event) {
    Session& session = *event.session;
    if (event.what == Event::What::accepted) {
        void* cookie = nullptr;
        const bool wanted = host_.accepted(host_.self, reinterpret_cast<plexus_link*>(&session),
                                           &session.handshake.peer(), &cookie) == PLEXUS_OK;
        const Lock hold(mutex_);
        session.cookie = cookie;
        if (wanted)
            sessions_.greet(session);
        else
            sessions_.give_up(session);
        return;
    }
    if (given_up(session)) return;
    if (event.what == Event::What::lost)
        return host_.lost(session.cookie, event.status, module::view(event.why));
    if (event.what == Event::What::opened) host_.opened(session.cookie);
    if (event.what == Event::What::message || (event.also_message && !given_up(session)))
        host_.deliver(session.cookie, event.message);
}

// Progress.

std::uint32_t Module::poll(std::uint32_t budget) {
    std::uint32_t handled = poller_.wait(budget);
    std::vector<Event> events;
    {
        const Lock hold(mutex_);
        armed_ = false;
        sessions_.bury();
        if (sessions_.next() != Clock::time_point::max())
            if (const auto now = Clock::now(); now >= sessions_.next()) sessions_.run(now, events);
    }
    for (const Event& event : events) tell(event);
    return handled + static_cast<std::uint32_t>(events.size());
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    const Lock hold(mutex_);
    const auto next = sessions_.next();
    if (next != Clock::time_point::max()) {
        const auto left = std::chrono::nanoseconds(next - Clock::now()).count();
        if (left <= 0) return PLEXUS_AGAIN;
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(left));
    }
    armed_ = true;
    return PLEXUS_OK;
}

std::int32_t Module::query(const Session* session, plexus_query what, std::uint64_t& value) const {
    const Lock hold(mutex_);
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
    case PLEXUS_QUERY_EAGER_BYTES:
        value = session != nullptr && session->most != 0 ? session->most : sessions_.most();
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = kLatencyNs;
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = kBandwidth;
        return PLEXUS_OK;
    case PLEXUS_QUERY_LINKS:
        value = sessions_.open();
        return PLEXUS_OK;
    case PLEXUS_QUERY_REFUSED:
        value = sessions_.refused();
        return PLEXUS_OK;
    case PLEXUS_QUERY_DROPPED:
        value = sockets_.lost();
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
    case PLEXUS_QUERY_QUEUED_BYTES:
    case PLEXUS_QUERY_SHARED_BYTES:
    case PLEXUS_QUERY_REMOTE_BYTES:
        break;
    }
    value = 0;
    return PLEXUS_OK;
}

const plexus_ops kOps =
    module::table_of<Module, Session, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_UNRELIABLE>();

} // namespace plexus::udp
