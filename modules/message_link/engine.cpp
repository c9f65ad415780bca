// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/engine.h"

#include "plexus/module/module.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/epoll.h>

namespace plexus::message_link {
namespace {

constexpr int kMostStrangers = 256;
constexpr std::size_t kMostHellos = 1024; // that wait
constexpr std::uint32_t kTurnsBetweenRetries = 16;
constexpr std::uint32_t kTurnsBetweenClocks = 64;

// How long the host may sleep with links that wait for time to pass.
constexpr std::uint64_t kShortNs = 1'000'000;
constexpr std::uint64_t kOpeningNs = 20'000'000;
constexpr std::uint64_t kSuspectNs = 200'000'000;

// Between two tries to reach a peer that does not answer.
constexpr Clock::duration kSoon = std::chrono::microseconds(20);
constexpr Clock::duration kSeldom = std::chrono::milliseconds(20);

Bytes bytes_of(plexus_view view) {
    const auto* const data = static_cast<const std::byte*>(view.data);
    return {data, data + view.size};
}

} // namespace

Engine::Engine(const plexus_host& host, const Settings& settings)
  : host_(host)
  , settings_(settings) {}

Engine::~Engine() {
    for (const Note& one : notes_.take())
        if (one.what == Note::What::connect) delete one.link;
}

int Engine::start(std::vector<std::unique_ptr<Port>> ports) {
    ports_ = std::move(ports);
    if (const int error = notes_.open(); error != 0) return error;
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    const auto watch = [&](int fd) {
        epoll_event event{EPOLLIN, {nullptr}};
        return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    };
    if (!epoll_ || !watch(notes_.wake_fd())) return errno;
    for (const auto& port : ports_) {
        port->waker = this;
        if (port->wait_fd() >= 0 && !watch(port->wait_fd())) return errno;
    }
    return 0;
}

std::int32_t Engine::describe(plexus_rows& rows) const {
    for (std::uint32_t row = 0; row < ports_.size(); ++row) {
        const Bytes bytes = ports_[row]->descriptor();
        const auto status = module::add_row(rows, label_of(row), module::view(bytes.data(), bytes.size()));
        if (status != PLEXUS_OK) return status;
    }
    return PLEXUS_OK;
}

std::int32_t Engine::applies(plexus_view descriptor, plexus_text& why) const {
    Port* port = nullptr;
    std::string reason;
    if (choose(descriptor, port, reason) == PLEXUS_OK) {
        if (!port->is_shut()) return PLEXUS_OK;
        reason = port->closed().why;
    }
    module::write(why, reason);
    return PLEXUS_NO_METHOD;
}

std::int32_t Engine::connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out) {
    Port* port = nullptr;
    std::string why;
    if (const std::int32_t status = choose(descriptor, port, why); status != PLEXUS_OK) return status;
    if (is_closing()) return PLEXUS_LINK_LOST;
    auto* const link = new Link(*this, *port, cookie, peer, bytes_of(descriptor));
    *out = reinterpret_cast<plexus_link*>(link); // before a callback can come
    note(Note::What::connect, *link);
    return PLEXUS_OK;
}

std::uint32_t Engine::row_of(const Port& port) const noexcept {
    const auto found =
        std::find_if(ports_.begin(), ports_.end(), [&](const auto& each) { return each.get() == &port; });
    return static_cast<std::uint32_t>(found - ports_.begin());
}

std::int32_t Engine::query(const Link* link, plexus_query what, std::uint64_t& value) const {
    Port& port = link != nullptr ? link->port : *ports_.front();
    const auto speed = [&] {
        const Hold hold(port.lock);
        return port.speed(link != nullptr ? link->peer() : nullptr);
    };
    switch (what) {
    case PLEXUS_QUERY_MAX_MESSAGE:
    case PLEXUS_QUERY_REFUSED:
    case PLEXUS_QUERY_DROPPED:
        value = 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_REMOTE_BYTES:
        value = port.remote_memory() != nullptr ? port.remote_memory()->least_bytes() : 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_SHARED_BYTES:
        value = link == nullptr ? port.traits().shared_bytes : 0;
        return PLEXUS_OK;
    case PLEXUS_QUERY_INLINE_BYTES:
        value = port.traits().inline_bytes;
        return PLEXUS_OK;
    case PLEXUS_QUERY_EAGER_BYTES:
        value = port.traits().eager;
        if (link == nullptr)
            for (const auto& each : ports_) value = std::min<std::uint64_t>(value, each->traits().eager);
        return PLEXUS_OK;
    case PLEXUS_QUERY_LATENCY_NS:
        value = speed().latency_ns;
        return PLEXUS_OK;
    case PLEXUS_QUERY_BANDWIDTH_BPS:
        value = speed().bytes_per_second;
        return PLEXUS_OK;
    case PLEXUS_QUERY_QUEUED_BYTES: {
        if (link == nullptr) {
            value = links_.queued_bytes();
            return PLEXUS_OK;
        }
        const Hold hold(port.lock);
        value = link->sender.queued_bytes();
        return PLEXUS_OK;
    }
    case PLEXUS_QUERY_LINKS:
        value = links_.count();
        return PLEXUS_OK;
    }
    return PLEXUS_UNSUPPORTED;
}

// ---- the turn

// An idle turn reads one flag and asks each port once.
std::int32_t Engine::poll(std::uint32_t budget) {
    const bool woke = std::exchange(turn_.slept, false);
    if (woke) notes_.disarm();
    ++turn_.number;
    std::uint32_t handled = 0;
    if (notes_.any()) handled += take_notes();
    std::size_t at = turn_.first; // each port is the first at times, and has all the budget
    if (++turn_.first >= ports_.size()) turn_.first = 0;
    for (std::size_t left = ports_.size(); left > 0; --left) {
        Port& port = *ports_[at];
        if (++at == ports_.size()) at = 0;
        if (woke || ++port.turns_since_look >= port.traits().turns_between_looks) {
            port.turns_since_look = 0;
            port.look_around();
        }
        handled += poll_port(port, budget);
        if (std::exchange(port.has_progressed, false) && handled == 0) handled = 1;
        if (port.is_shut()) handled += tell_closed(port);
    }
    if (!strangers_.hellos.empty()) handled += take_hellos(budget);
    if (turn_.timed && (woke || turn_.number % kTurnsBetweenClocks == 0)) check_times();
    if (!lists_.carrying.empty()) handled += carry();
    if (!lists_.want_room.empty()) handled += tell_writable();
    if (!lists_.ending.empty()) look_after_endings();
    return static_cast<std::int32_t>(handled);
}

void Engine::check_times() {
    now_ = Clock::now();
    turn_.timed = settings_.dead_after.count() > 0;
    // After a pause of this process what the peers have said meanwhile is not read yet.
    const auto since = now_ - std::exchange(turn_.checked, now_);
    const bool paused = turn_.timed && since > settings_.dead_after / 3;
    links_.each([&](Link& link) {
        if (paused) link.watch.heard = now_;
        link.check_times(now_);
        turn_.timed = turn_.timed || is_opening(link.state) || link.receiver.is_suspect();
    });
}

std::uint32_t Engine::poll_port(Port& port, std::uint32_t budget) {
    std::uint32_t handled = 0;
    for (;;) {
        const std::size_t most = std::min<std::size_t>(kBatch, budget - handled);
        const std::size_t count = port.poll(events_.data(), most);
        for (std::size_t i = 0; i < count; ++i) { // before a callback gives up a link that has one
            const Event& event = events_[i];
            if (event.what == Event::What::fetched || event.what == Event::What::landed)
                event.peer->link.receiver.write_is_over();
        }
        for (std::size_t i = 0; i < count; ++i) take(port, events_[i]);
        handled += static_cast<std::uint32_t>(count);
        if (count < most || handled >= budget) return handled;
    }
}

void Engine::take(Port& port, Event& event) {
    if (event.what == Event::What::arrived) return receive(port, *event.message);
    if (event.what == Event::What::unknown_failed) {
        host_.log(host_.self, PLEXUS_DEBUG, ("an operation failed: " + event.why).c_str());
        turn_.timed = true;
        return links_.each([&](Link& link) {
            if (&link.port == &port) link.receiver.suspect_read(event.why);
        });
    }
    Link& link = event.peer->link;
    switch (event.what) {
    case Event::What::fetched:
        link.receiver.fetched(event.bytes, event.why);
        break;
    case Event::What::landed:
        link.receiver.landed(event.token, event.status);
        break;
    case Event::What::sent:
        link.sent(event);
        break;
    case Event::What::broken:
        link.lose(PLEXUS_LINK_LOST, event.why);
        break;
    case Event::What::ended:
        link.watch.exited = true;
        break;
    case Event::What::arrived:
    case Event::What::unknown_failed:
        break;
    }
    // It may be freed now.
    if (link.state == Link::State::over || event.what == Event::What::ended) look_after(link);
}

void Engine::receive(Port& port, Message& message) {
    bool kept = false;
    if (message.header.kind == Kind::hello) {
        take_hello(port, {message.body, message.size});
    } else if (Link* const link = links_.find(message.header); link != nullptr && &link->port == &port) {
        link->arrived(message, kept);
    } // others are late, or were never ours
    if (!kept) port.recycle(message);
}

void Engine::take_hello(Port& port, ByteView body) {
    if (is_closing() || is_draining() || port.is_shut()) return;
    Hello hello;
    Opening opening(host_);
    const auto verdict = opening.take_hello(body, hello);
    if (verdict.status == PLEXUS_AGAIN) return turn_away(verdict.why);
    if (strangers_.count >= kMostStrangers) { // a hello is said once
        if (strangers_.hellos.size() < kMostHellos)
            strangers_.hellos.push_back({&port, {body.begin(), body.end()}, Clock::now()});
        return;
    }
    auto made = std::make_unique<Link>(*this, port, nullptr, plexus_id{}, Bytes{});
    std::int32_t status = PLEXUS_LINK_LOST;
    std::string why;
    auto peer = port.reach(hello.descriptor, *made, status, why);
    if (peer == nullptr) // it holds the key, but has gone or can't be reached
        return host_.log(host_.self, PLEXUS_DEBUG, ("a peer was turned away: " + why).c_str());
    Link& link = *made;
    if (!links_.add(std::move(made), host_)) return free(link);
    link.mine.window = settings_.window;
    link.mine.eager = static_cast<std::uint32_t>(port.traits().eager);
    ++strangers_.count;
    turn_.timed = true;
    link.greet(std::move(opening), hello.end, std::move(peer));
    if (verdict.status != PLEXUS_OK) {
        link.lose(verdict.status, verdict.why);
    } else if (port.traits().same_eager && hello.end.eager != link.mine.eager) {
        link.lose(PLEXUS_LINK_LOST, "its parameter eager has another value");
    }
}

// Who has waited for longer than its connect_timeout, which is taken to be as long as here, has given up.
std::uint32_t Engine::take_hellos(std::uint32_t budget) {
    const auto since = Clock::now() - settings_.connect_timeout;
    std::uint32_t taken = 0;
    for (; !strangers_.hellos.empty() && taken < budget; ++taken) {
        const bool is_late = strangers_.hellos.front().came < since;
        if (!is_late && strangers_.count >= kMostStrangers) break;
        const Strangers::Waiting waiting = std::move(strangers_.hellos.front());
        strangers_.hellos.pop_front();
        if (!is_late) take_hello(*waiting.port, waiting.hello);
    }
    return taken;
}

// A line a minute: strangers may come often.
void Engine::turn_away(const std::string& why) {
    const auto now = Clock::now();
    if (now < strangers_.quiet_until) return;
    strangers_.quiet_until = now + std::chrono::minutes(1);
    host_.log(host_.self, PLEXUS_WARN, ("a stranger was turned away: " + why).c_str());
}

// Its links end with it, and no others come: applies() says why.
std::uint32_t Engine::tell_closed(Port& port) {
    if (std::exchange(port.is_known_closed, true)) return 0;
    if (port.wait_fd() >= 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, port.wait_fd(), nullptr);
    const Port::Closed closed = port.closed();
    host_.log(host_.self, closed.failed ? PLEXUS_WARN : PLEXUS_INFO,
              (closed.why + "; its links are lost, and this context does not use it any more").c_str());
    links_.each([&](Link& link) {
        if (&link.port == &port) link.lose(PLEXUS_LINK_LOST, closed.why);
    });
    return 1;
}

// ---- what waits

void Engine::note_carrying(Link& link) {
    if (!std::exchange(link.sender.wants_carrying, true)) note(Note::What::carry, link);
}

std::uint32_t Engine::take_notes() {
    now_ = Clock::now();
    // A link is freed at the end of a turn at the earliest, so all of these are there.
    const std::vector<Note> notes = notes_.take();
    for (const Note& one : notes) {
        Link& link = *one.link;
        switch (one.what) {
        case Note::What::connect: {
            turn_.timed = true;
            const bool added = links_.add(std::unique_ptr<Link>(&link), host_);
            link.mine.window = settings_.window;
            link.mine.eager = static_cast<std::uint32_t>(link.port.traits().eager);
            if (added) {
                link.connect();
            } else {
                link.lose(PLEXUS_LINK_LOST, "this context has as many links as it can");
            }
            break;
        }
        case Note::What::give_up:
            link.leave();
            break;
        case Note::What::want_room:
            lists_.want_room.push_back(&link);
            break;
        case Note::What::carry:
            lists_.carrying.push_back(&link);
            break;
        case Note::What::broken: {
            std::string why;
            {
                const Hold hold(link.port.lock);
                why = link.sender.why_broken();
            }
            link.lose(PLEXUS_LINK_LOST, std::move(why));
            break;
        }
        }
    }
    return static_cast<std::uint32_t>(notes.size());
}

std::uint32_t Engine::carry() {
    std::uint32_t handled = 0;
    std::vector<Link*> carrying;
    carrying.swap(lists_.carrying);
    const auto now = Clock::now();
    for (Link* const link : carrying) {
        // Asked for a connection again and again, a library tries one each time: ever more seldom.
        if (is_opening(link->state) || link->state == Link::State::over) {
            if (now < link->watch.next_try) {
                lists_.carrying.push_back(link);
                continue;
            }
            link->watch.next_try = now + std::clamp((now - link->watch.heard) / 4, kSoon, kSeldom);
        }
        bool done = false;
        handled += link->carry_on(done) ? 1 : 0;
        if (!done) lists_.carrying.push_back(link);
    }
    return handled;
}

std::uint32_t Engine::tell_writable() {
    std::uint32_t handled = 0;
    std::vector<Link*> waiting;
    waiting.swap(lists_.want_room);
    const bool retry = turn_.number % kTurnsBetweenRetries == 0;
    for (Link* const link : waiting) {
        if (!link->has_room(retry)) {
            lists_.want_room.push_back(link);
        } else if (link->state == Link::State::open && !link->is_given_up()) {
            ++handled;
            host_.writable(link->cookie);
        }
    }
    return handled;
}

// ---- endings

void Engine::look_after(Link& link) {
    if (!std::exchange(link.watch.ending, true)) lists_.ending.push_back(&link);
}

void Engine::give_up(Link& link) {
    if (stage_ == Stage::drained) {
        free(link);
    } else {
        note(Note::What::give_up, link);
    }
}

void Engine::look_after_endings() {
    std::vector<Link*> ending;
    ending.swap(lists_.ending);
    for (Link* const link : ending) {
        bool over = false;
        if (!link->try_to_end(over)) lists_.ending.push_back(link);
        if (over) free(*link);
    }
}

void Engine::free(Link& link) {
    std::erase(lists_.want_room, &link);
    std::erase(lists_.carrying, &link);
    std::erase(lists_.ending, &link);
    notes_.forget(link);
    links_.remove(link);
}

// What the peers have yet to take: messages that are not received, parts and goodbyes that are not sent.
// A hello counts, too: UCX 1.13 can end a process if the other side goes while the two wire up.
bool Engine::is_under_way() const {
    bool out = false;
    links_.each([&](const Link& link) {
        if (link.peer() == nullptr || link.port.is_shut() || link.watch.exited ||
            link.receiver.peer_said_bye())
            return;
        const Hold hold(link.port.lock);
        const bool only_sends = is_opening(link.state) || link.state == Link::State::failing;
        out = out || (only_sends ? link.port.is_sending(*link.peer()) : !link.sender.is_idle());
    });
    return out;
}

// Nothing else runs in the module. What arrives is not delivered any more, except for what ends
// our own sends.
void Engine::drain() {
    close();
    (void)take_notes();
    stage_ = Stage::drains;
    const auto turn = [&] {
        (void)take_notes(); // our own: of what found no room
        (void)carry();
        for (const auto& port : ports_) {
            port->look_around();
            (void)poll_port(*port, UINT32_MAX);
        }
    };
    const auto wait_until = [&](Clock::time_point until) {
        turn();
        while (is_under_way() && Clock::now() < until) {
            (void)::poll(nullptr, 0, 1); // a millisecond for the others
            turn();
        }
    };
    wait_until(Clock::now() + settings_.linger);
    links_.each([&](Link& link) {
        if (link.sender.far.slot == kNoSlot || link.receiver.peer_said_bye() || link.watch.exited) return;
        if (link.state != Link::State::over) link.say(Kind::bye);
    });
    // A few turns for the goodbyes, also where the time is up, and no more: a peer that misses one
    // notices in another way.
    wait_until(Clock::now() + std::chrono::milliseconds(100));
    links_.each([](Link& link) { link.receiver.drop_waiting(); });
    for (const auto& port : ports_) {
        port->shut();
        (void)poll_port(*port, UINT32_MAX); // what was posted is over
    }
    links_.each([](Link& link) { link.end_everything(); });
    lists_ = {};
    stage_ = Stage::drained;
    links_.each([&](Link& link) {
        if (link.is_given_up() || link.cookie == nullptr) free(link);
    });
}

// ---- sleeping

std::int32_t Engine::arm(std::uint64_t& sleep_ns) {
    if (!notes_.arm() || (!strangers_.hellos.empty() && strangers_.count < kMostStrangers))
        return PLEXUS_AGAIN;
    turn_.slept = true;
    bool stalled = false;
    for (Link* const link : lists_.want_room) {
        const Hold hold(link->port.lock);
        stalled = stalled || link->sender.is_stalled();
    }
    for (const auto& port : ports_) {
        if (port->is_shut() ? !port->is_known_closed : !port->arm(sleep_ns, stalled)) return PLEXUS_AGAIN;
    }
    if (!lists_.carrying.empty() || !lists_.ending.empty()) sleep_ns = std::min(sleep_ns, kShortNs);
    links_.each([&](const Link& link) {
        const bool seen = link.peer() != nullptr && link.peer()->is_seen();
        const bool unheard =
            !link.port.traits().wakes && link.state == Link::State::open && !link.peer()->sees_us;
        if (unheard) sleep_ns = std::min(sleep_ns, kShortNs);
        if (is_opening(link.state)) sleep_ns = std::min(sleep_ns, kOpeningNs);
        if (link.receiver.is_suspect()) sleep_ns = std::min(sleep_ns, kSuspectNs);
        if (!seen && settings_.dead_after.count() > 0)
            sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(settings_.dead_after.count()) / 6);
    });
    return PLEXUS_OK;
}

} // namespace plexus::message_link
