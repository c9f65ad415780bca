// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/engine.h"

#include "plexus/module/module.h"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace plexus::message_link {
namespace {

constexpr std::uint32_t kTurnsBetweenRetries = 16;
constexpr std::uint32_t kTurnsBetweenClocks = 64;
constexpr std::uint64_t kShortNs = 1'000'000; // of sleep, with links that are asked again and again

Bytes bytes_of(plexus_view view) {
    const auto* const data = static_cast<const std::byte*>(view.data);
    return {data, data + view.size};
}

// What the peer has yet to take: messages that are not received, parts and goodbyes that are not sent.
// A hello counts, too: UCX 1.13 can end a process if the other side goes while the two wire up.
bool is_under_way(const Link& link) {
    if (link.peer() == nullptr || link.port.is_shut() || link.watch.exited || link.receiver.peer_said_bye())
        return false;
    const Hold hold(link.port.lock);
    const bool only_sends = is_opening(link.state) || link.state == Link::State::failing;
    return only_sends ? link.port.is_sending(*link.peer()) : !link.sender.is_idle();
}

} // namespace

Engine::Engine(const plexus_host& host, const Settings& settings)
  : host_(host)
  , settings_(settings)
  , timeouts_(settings.dead_after)
  , listener_(*this, links_, timeouts_)
  , dispatcher_(host, links_, pending_, timeouts_, listener_) {}

Engine::~Engine() {
    for (const Note& one : notes_.take())
        if (one.what == Note::What::connect) delete one.link;
}

int Engine::start(std::vector<std::unique_ptr<Port>> ports) {
    if (const int error = notes_.open(); error != 0) return error;
    for (const auto& port : ports) port->waker = &notes_;
    return ports_.open(std::move(ports), notes_.wake_fd());
}

std::int32_t Engine::describe(plexus_rows& rows) const {
    std::uint32_t row = 0;
    for (const auto& port : ports_) {
        const Bytes bytes = port->descriptor();
        const auto status = module::add_row(rows, label_of(row++), module::view(bytes.data(), bytes.size()));
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
    const bool woke = std::exchange(slept_, false);
    if (woke) notes_.disarm();
    ++turns_;
    std::uint32_t handled = 0;
    if (notes_.any()) handled += take_notes();
    ports_.each_in_turn([&](Port& port) { // each has all the budget
        if (woke || ++port.turns_since_look >= port.traits().turns_between_looks) {
            port.turns_since_look = 0;
            port.look_around();
        }
        handled += dispatcher_.poll(port, budget);
        if (std::exchange(port.has_progressed, false) && handled == 0) handled = 1;
        if (port.is_shut()) handled += tell_closed(port);
    });
    if (listener_.has_waiting()) handled += listener_.take_waiting(budget);
    if (timeouts_.are_expected() && (woke || turns_ % kTurnsBetweenClocks == 0)) timeouts_.check(links_);
    if (pending_.any()) {
        handled += pending_.carry();
        handled += pending_.tell_writable(turns_ % kTurnsBetweenRetries == 0);
        for (Link* const link : pending_.end()) free(*link);
    }
    return static_cast<std::int32_t>(handled);
}

// Its links end with it, and no others come: applies() says why.
std::uint32_t Engine::tell_closed(Port& port) {
    if (std::exchange(port.is_known_closed, true)) return 0;
    ports_.stop_watching(port);
    const Port::Closed closed = port.closed();
    host_.log(host_.self, closed.failed ? PLEXUS_WARN : PLEXUS_INFO,
              (closed.why + "; its links are lost, and this context does not use it any more").c_str());
    links_.each([&](Link& link) {
        if (&link.port == &port) link.lose(PLEXUS_LINK_LOST, closed.why);
    });
    return 1;
}

// ---- notes

void Engine::note_carrying(Link& link) {
    if (!std::exchange(link.sender.wants_carrying, true)) note(Note::What::carry, link);
}

std::uint32_t Engine::take_notes() {
    timeouts_.read_clock();
    // A link is freed at the end of a turn at the earliest, so all of these are there.
    const std::vector<Note> notes = notes_.take();
    for (const Note& one : notes) take_note(one);
    return static_cast<std::uint32_t>(notes.size());
}

void Engine::take_note(const Note& note) {
    Link& link = *note.link;
    switch (note.what) {
    case Note::What::connect:
        timeouts_.expect();
        if (links_.add(std::unique_ptr<Link>(&link), host_)) {
            link.connect();
        } else {
            link.lose(PLEXUS_LINK_LOST, "this context has as many links as it can");
        }
        break;
    case Note::What::give_up:
        link.leave();
        break;
    case Note::What::want_room:
        pending_.add_waiting(link);
        break;
    case Note::What::carry:
        pending_.add_carrying(link);
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

// ---- endings

void Engine::give_up(Link& link) {
    if (stage_ == Stage::drained) {
        free(link);
    } else {
        note(Note::What::give_up, link);
    }
}

void Engine::free(Link& link) {
    pending_.forget(link);
    notes_.forget(link);
    links_.remove(link);
}

// Nothing else runs in the module. What arrives is not delivered any more, except for what ends
// our own sends.
void Engine::drain() {
    close();
    (void)take_notes();
    stage_ = Stage::drains;
    const auto turn = [&] {
        (void)take_notes(); // our own: of what found no room
        (void)pending_.carry();
        for (const auto& port : ports_) {
            port->look_around();
            (void)dispatcher_.poll(*port, UINT32_MAX);
        }
    };
    const auto any_under_way = [&] {
        bool out = false;
        links_.each([&](const Link& link) { out = out || is_under_way(link); });
        return out;
    };
    const auto wait_until = [&](Clock::time_point until) {
        turn();
        while (any_under_way() && Clock::now() < until) {
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
        (void)dispatcher_.poll(*port, UINT32_MAX); // what was posted is over
    }
    links_.each([](Link& link) { link.end_everything(); });
    pending_.clear();
    stage_ = Stage::drained;
    links_.each([&](Link& link) {
        if (link.is_given_up() || link.cookie == nullptr) free(link);
    });
}

// ---- sleeping

std::int32_t Engine::arm(std::uint64_t& sleep_ns) {
    if (!notes_.arm() || listener_.has_room_for_waiting()) return PLEXUS_AGAIN;
    slept_ = true;
    if (!ports_.arm(sleep_ns, pending_.are_stalled())) return PLEXUS_AGAIN;
    if (pending_.need_polling()) sleep_ns = std::min(sleep_ns, kShortNs);
    timeouts_.limit_sleep(links_, sleep_ns);
    return PLEXUS_OK;
}

} // namespace plexus::message_link
