// SPDX-License-Identifier: BSD-3-Clause
#include "udp/sessions.h"

#include "common/pieces.h"
#include "common/values.h"

#include <algorithm>
#include <cerrno>
#include <limits>

namespace plexus::udp {
namespace {

using module::Handshake;
using State = Session::State;

constexpr auto kFirstRetry = std::chrono::milliseconds(100);
constexpr auto kLongestRetry = std::chrono::seconds(1);
constexpr std::size_t kSafeMtu = 1280;    // where the system does not say: what every IPv6 path takes
constexpr std::size_t kMostPending = 256; // of answered hellos that were not confirmed

std::string text_of(Clock::duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

std::string text_of(const std::vector<Path>& paths) {
    std::string text;
    for (const Path& path : paths) text += (text.empty() ? "" : ", ") + stream_link::text_of(path.peer);
    return text;
}

std::string_view text_in(Bytes bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_known(std::uint8_t what) noexcept {
    switch (static_cast<Content>(what)) {
    case Content::alive:
    case Content::message:
    case Content::bye:
        return true;
    }
    return false;
}

std::size_t most_to(const Path& path, std::size_t most) {
    const std::size_t mtu = Sockets::mtu_to(path.peer);
    return std::min(most, most_message(mtu != 0 ? mtu : kSafeMtu, path.peer.address().is_v4()));
}

std::string why_not_open(const Session& session, const Options& options) {
    const bool confirms = session.state == Session::State::confirming;
    const std::string peer = text_of(session.paths);
    std::string why =
        (confirms ? peer + " answered, and nothing came by the new keys" : "no answer from " + peer) +
        " within connect_timeout (" + text_of(options.where.connect_timeout) +
        "): see whether the peer runs, and whether firewalls let UDP through both ways";
    if (!session.other_answers.empty()) why += "; " + session.other_answers;
    return why;
}

// Why an open session ends; empty: it goes on.
std::string why_over(const Session& session, const Options& options, Clock::time_point now) {
    const Session::Times& times = session.times;
    if (now - times.heard >= options.silence)
        return "nothing has come from " + text_of(session.paths) + " for longer than silence (" +
               text_of(options.silence) +
               "): see whether the peer runs and the network carries UDP, or raise silence";
    if (session.keys->worn())
        return "its keys have sealed as much as they may: the next connection has others";
    if (options.idle.count() != 0 && now - times.message >= options.idle)
        return "no message for longer than idle (" + text_of(options.idle) +
               "): the next one makes another connection";
    return {};
}

} // namespace

Keys::Keys(const Handshake& handshake, bool dialed)
  : seal(Cipher::Use::seal, handshake.derive(dialed ? "plexus udp dialled" : "plexus udp accepted"))
  , open(Cipher::Use::open, handshake.derive(dialed ? "plexus udp accepted" : "plexus udp dialled")) {}

Sessions::Sessions(Module* module, const plexus_host& host, const Options& options, const Sockets& sockets)
  : module_(module)
  , host_(host)
  , options_(options)
  , sockets_(sockets)
  , outgoing_(kMostPayload)
  , plain_(kMostPayload / 8 + 2) {}

std::size_t Sessions::most() const noexcept {
    return most_message(options_.mtu != 0 ? options_.mtu : std::numeric_limits<std::uint16_t>::max(), true);
}

std::size_t Sessions::open() const noexcept {
    const auto is_open = [](const auto& each) { return each.second->state == State::open; };
    return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(), is_open));
}

Session& Sessions::make(bool dialed, Handshake handshake, State state) {
    std::uint32_t own = 0;
    while (own == 0 || sessions_.contains(own)) host_.random(host_.self, &own, sizeof own);
    auto made = std::make_unique<Session>(Session{module_, dialed, std::move(handshake), state});
    made->own = own;
    made->times.began = Clock::now();
    made->times.pause = kFirstRetry;
    return *sessions_.emplace(own, std::move(made)).first->second;
}

Session* Sessions::find(std::uint32_t own, State one, State other) {
    const auto found = sessions_.find(own);
    if (found == sessions_.end()) return nullptr;
    const State state = found->second->state;
    return state == one || state == other ? found->second.get() : nullptr;
}

Event Sessions::refuse() {
    ++refused_;
    return {};
}

// Beginning.

Session& Sessions::dial(const plexus_id& peer, std::vector<Path> paths, void* cookie) {
    Session& session = make(true, Handshake::connecting(host_, peer, most()), State::dialing);
    session.cookie = cookie;
    session.paths = std::move(paths);
    session.record = session.handshake.take_outgoing();
    send_record(session);
    return session;
}

// To every address that may be the peer's: the first answer chooses.
void Sessions::send_record(Session& session) {
    constexpr Kind kKinds[] = {Kind::hello, Kind::confirm, Kind::answer};
    const Kind kind = kKinds[static_cast<std::size_t>(session.state)];
    std::vector<std::uint8_t> datagram(Header::kBytes);
    encode({kind, session.theirs, kind == Kind::confirm ? 0 : session.own}, datagram.data());
    datagram.insert(datagram.end(), session.record.begin(), session.record.end());
    for (const Path& path : session.paths) (void)sockets_.send(path, datagram);
    Session::Times& times = session.times;
    times.retry = Clock::now() + times.pause;
    times.pause = std::min<Clock::duration>(2 * times.pause, kLongestRetry);
    look_at(session, std::min(times.retry, times.began + options_.where.connect_timeout));
}

Event Sessions::take(const Path& from, Bytes bytes) {
    const auto datagram = decode(bytes);
    if (!datagram) return refuse();
    switch (datagram->header.kind) {
    case Kind::hello:
        take_hello(from, *datagram);
        return {};
    case Kind::answer:
        return take_answer(from, *datagram);
    case Kind::confirm:
        return take_confirm(from, *datagram);
    case Kind::sealed:
        return take_sealed(bytes, *datagram);
    }
    return refuse();
}

void Sessions::take_hello(const Path& from, const Datagram& datagram) {
    const std::uint64_t theirs = datagram.header.number;
    if (datagram.header.to != 0 || theirs == 0 || theirs > UINT32_MAX) return void(refuse());
    if (const auto found = hellos_.find(text_in(datagram.rest)); found != hellos_.end()) { // it came before
        Session& session = *found->second;
        if (session.state == State::pending && session.paths.front() == from) send_record(session);
        return;
    }
    Handshake handshake = Handshake::accepting(host_, most());
    const std::int32_t verdict = handshake.feed(datagram.rest);
    std::vector<std::uint8_t> answer = handshake.take_outgoing();
    if (answer.empty()) return void(refuse());
    Session& session = make(false, std::move(handshake), State::pending);
    session.theirs = static_cast<std::uint32_t>(theirs);
    session.record = std::move(answer);
    session.hello = text_in(datagram.rest);
    session.paths = {from};
    hellos_.emplace(session.hello, &session);
    pending_.push_back(&session);
    send_record(session);
    if (verdict != PLEXUS_AGAIN) return give_up(session); // it is told why, and that is all
    if (pending_.size() > kMostPending) give_up(*pending_.front());
}

// A forged record must not end the exchange: a copy tries it.
Event Sessions::take_answer(const Path& from, const Datagram& datagram) {
    Session* const session = find(datagram.header.to, State::dialing, State::dialing);
    if (session == nullptr || session->given_up) return {}; // late, or twice
    if (datagram.header.number == 0 || datagram.header.number > UINT32_MAX) return refuse();
    Handshake handshake = session->handshake;
    const std::int32_t verdict = handshake.feed(datagram.rest);
    if (verdict == PLEXUS_DENIED || verdict == PLEXUS_BAD_ARGUMENT) return refuse();
    if (verdict == PLEXUS_WRONG_PEER)
        return turned_away(*session, from, verdict,
                           "belongs to another context: the peer has ended, or listens elsewhere now");
    if (verdict != PLEXUS_OK)
        return turned_away(*session, from, PLEXUS_LINK_LOST,
                           "speaks another version of the handshake (" +
                               std::to_string(handshake.peer_version()) + ", this side " +
                               std::to_string(Handshake::kVersion) +
                               "): run the same release of Plexus on both sides");
    session->handshake = std::move(handshake);
    session->theirs = static_cast<std::uint32_t>(datagram.header.number);
    session->record = session->handshake.take_outgoing();
    session->state = State::confirming;
    session->times.pause = kFirstRetry;
    start(*session, from);
    send_record(*session);
    return {};
}

// The peer may still answer at another address.
Event Sessions::turned_away(Session& session, const Path& from, std::int32_t verdict,
                            const std::string& why) {
    if (std::erase(session.paths, from) == 0) return {}; // said before
    std::string& all = session.other_answers;
    all += (all.empty() ? "" : "; ") + stream_link::text_of(from.peer) + " " + why;
    return session.paths.empty() ? lose(session, verdict, all) : Event{};
}

void Sessions::start(Session& session, const Path& path) {
    session.paths = {path};
    session.keys = std::make_unique<Keys>(session.handshake, session.dialed);
    session.most = most_to(path, most());
    if (session.handshake.peer_max_message() != 0)
        session.most = std::min<std::size_t>(session.most, session.handshake.peer_max_message());
    const auto now = Clock::now();
    session.times.sent = session.times.heard = session.times.message = now;
}

Event Sessions::take_confirm(const Path& from, const Datagram& datagram) {
    Session* const session = find(datagram.header.to, State::pending, State::open);
    if (session == nullptr || session->dialed || session->given_up) return {};
    if (session->state == State::open) { // what told the peer that it came was lost
        if (std::equal(session->record.begin(), session->record.end(), datagram.rest.begin(),
                       datagram.rest.end()))
            say(*session, Content::alive);
        return {};
    }
    Handshake handshake = session->handshake;
    if (handshake.feed(datagram.rest) != PLEXUS_OK) return refuse();
    session->handshake = std::move(handshake);
    session->record.assign(datagram.rest.begin(), datagram.rest.end());
    start(*session, from);
    if (!session->keys->seal.usable() || !session->keys->open.usable())
        return lose(*session, PLEXUS_LINK_LOST,
                    "OpenSSL has no AES-256-GCM: let its configuration load the default provider");
    std::erase(pending_, session);
    session->state = State::open;
    look_at(*session, session->times.sent + options_.keep_alive);
    Event event;
    event.what = Event::What::accepted;
    event.session = session;
    return event;
}

// While it is open.

Event Sessions::take_sealed(Bytes whole, const Datagram& datagram) {
    Session* const session = find(datagram.header.to, State::confirming, State::open);
    if (session == nullptr || session->given_up) return refuse();
    Keys& keys = *session->keys;
    if (!keys.open.usable() || !keys.window.is_new(datagram.header.number)) return refuse();
    // Its first byte ends where the message begins, at a multiple of eight bytes.
    std::uint8_t* const plain = reinterpret_cast<std::uint8_t*>(plain_.data()) + 7;
    if (!keys.open.open(whole.data(), datagram.rest, plain) || !is_known(*plain)) return refuse();
    keys.window.came(datagram.header.number);
    const auto now = Clock::now();
    session->times.heard = now;
    Event event;
    event.session = session;
    if (session->state == State::confirming) {
        session->state = State::open;
        event.what = Event::What::opened;
        look_at(*session, now + options_.keep_alive);
    }
    const auto what = static_cast<Content>(*plain);
    if (what == Content::bye) return lose(*session, PLEXUS_LINK_LOST, "the peer has ended the connection");
    if (what == Content::message) {
        session->times.message = now;
        event.also_message = event.what == Event::What::opened;
        if (!event.also_message) event.what = Event::What::message;
        event.message = {plain + 1, datagram.rest.size() - kTagBytes - 1};
    }
    return event;
}

std::int32_t Sessions::send(Session& session, std::span<const plexus_view> pieces) {
    if (session.state == State::over || session.given_up) return PLEXUS_LINK_LOST;
    if (session.state != State::open) return PLEXUS_AGAIN;
    const std::size_t size = module::size_of(pieces);
    if (size > session.most) return PLEXUS_TOO_LARGE;
    if (session.keys->worn()) { // run() ends it: another one has fresh keys
        look_at(session, Clock::now());
        return PLEXUS_LINK_LOST;
    }
    const std::int32_t status = seal(session, Content::message, pieces, size);
    if (status == PLEXUS_OK) session.times.message = session.times.sent;
    return status;
}

std::int32_t Sessions::seal(Session& session, Content what, std::span<const plexus_view> pieces,
                            std::size_t size) {
    Keys& keys = *session.keys;
    keys.blocks += (size + kOverhead) / 16 + 1;
    if (!keys.seal.seal({Kind::sealed, session.theirs, ++keys.sent}, what, pieces, outgoing_.data()))
        return PLEXUS_AGAIN;
    const int error = sockets_.send(session.paths.front(), {outgoing_.data(), size + kOverhead});
    if (error == EMSGSIZE) { // the path has become narrower
        if (size > 0) session.most = std::min(most_to(session.paths.front(), most()), size - 1);
        return PLEXUS_TOO_LARGE;
    }
    if (error != 0) return PLEXUS_AGAIN; // no room, or no route at the moment
    session.times.sent = Clock::now();
    return PLEXUS_OK;
}

// Ending.

Event Sessions::lose(Session& session, std::int32_t status, std::string why) {
    if (session.given_up || session.cookie == nullptr) {
        end(session);
        return {};
    }
    session.state = State::over;
    forget_due(session);
    Event event;
    event.what = Event::What::lost;
    event.session = &session;
    event.status = status;
    event.why = std::move(why);
    return event;
}

void Sessions::end(Session& session) {
    if (session.state == State::pending) std::erase(pending_, &session);
    session.state = State::over;
    forget_due(session);
    if (!std::exchange(session.given_up, true)) ended_.push_back(session.own);
}

void Sessions::give_up(Session& session) {
    if (session.state == State::open) say(session, Content::bye);
    end(session);
}

void Sessions::end_all(bool tell) {
    for (const auto& [own, session] : sessions_) {
        if (tell && session->state == State::open) say(*session, Content::bye);
        session->state = State::over;
        session->times.due = Clock::time_point::max();
    }
    due_.clear();
    pending_.clear();
}

void Sessions::bury() {
    for (const std::uint32_t own : std::exchange(ended_, {})) {
        const auto found = sessions_.find(own);
        hellos_.erase(found->second->hello);
        sessions_.erase(found);
    }
}

void Sessions::look_at(Session& session, Clock::time_point when) {
    forget_due(session);
    due_.emplace(when, &session);
    session.times.due = when;
}

void Sessions::forget_due(Session& session) noexcept {
    due_.erase({std::exchange(session.times.due, Clock::time_point::max()), &session});
}

void Sessions::run(Clock::time_point now, std::vector<Event>& events) {
    for (std::size_t looked = 0; looked < kMostRun && next() <= now; ++looked) {
        Session* const session = due_.begin()->second;
        forget_due(*session);
        Event event = run(*session, now);
        if (event.what != Event::What::nothing) events.push_back(std::move(event));
    }
}

Event Sessions::run(Session& session, Clock::time_point now) {
    const Session::Times& times = session.times;
    if (session.state != State::open) {
        const auto limit = times.began + options_.where.connect_timeout;
        if (now >= limit) return lose(session, PLEXUS_LINK_LOST, why_not_open(session, options_));
        if (session.state == State::pending) {
            look_at(session, limit);
        } else if (now >= times.retry) {
            send_record(session);
        } else {
            look_at(session, std::min(times.retry, limit));
        }
        return {};
    }
    if (std::string why = why_over(session, options_, now); !why.empty()) {
        say(session, Content::bye); // what the peer sends may be lost, and not what it gets
        return lose(session, PLEXUS_LINK_LOST, std::move(why));
    }
    if (now - times.sent >= options_.keep_alive) {
        say(session, Content::alive);
        session.times.sent = now; // also if there was no room
    }
    auto next = std::min(times.sent + options_.keep_alive, times.heard + options_.silence);
    if (options_.idle.count() != 0) next = std::min(next, times.message + options_.idle);
    look_at(session, next);
    return {};
}

} // namespace plexus::udp
