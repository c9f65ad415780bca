// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/link.h"

#include "common/pieces.h"
#include "common/values.h"
#include "message_link/engine.h"

#include <algorithm>

namespace plexus::message_link {
namespace {

constexpr auto kMostFailing = std::chrono::seconds(1);  // for writes on behalf of a peer that has gone
constexpr auto kMostGoodbyes = std::chrono::seconds(1); // for a bye that finds no room
constexpr std::uint32_t kSilentTurns = 4;               // after the end of a process its last words are read

} // namespace

Link::Link(Engine& its_engine, Port& its_port, void* its_cookie, const plexus_id& peer_id, Bytes descriptor)
  : engine(its_engine)
  , port(its_port)
  , cookie(its_cookie)
  , sender(*this)
  , receiver(*this)
  , peer_id_(peer_id)
  , descriptor_(std::move(descriptor)) {
    mine.window = engine.settings().window;
    mine.eager = static_cast<std::uint32_t>(port.traits().eager);
}

Link::~Link() {
    const Hold hold(port.lock);
    remotes_.clear();
}

const plexus_host& Link::host() const noexcept { return engine.host(); }

void Link::set_state(State next) {
    const Hold hold(port.lock);
    state = next;
}

// ---- the host's half

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    const std::uint64_t size = module::size_of({pieces, count});
    if (size > SIZE_MAX / 2) return PLEXUS_TOO_LARGE;
    if (size > port.traits().eager && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    if (engine.is_closing()) return PLEXUS_LINK_LOST;
    const Hold hold(port.lock);
    if (state == State::open) return sender.send(pieces, count, size, token);
    if (state != State::connecting) return PLEXUS_LINK_LOST;
    sender.want_room();
    return PLEXUS_AGAIN;
}

// Nothing is written to the host's memory after this: copies first, then what the port writes.
void Link::disconnect() {
    given_up_.store(true, std::memory_order_relaxed);
    receiver.stop_copies();
    {
        const Hold hold(port.lock); // [writes]
    }
    if (receiver.is_writing()) port.stop_writes(*peer_, receiver.writes());
    engine.give_up(*this);
}

std::uint32_t Link::row() const { return engine.ports().row_of(port); }

std::int32_t Link::set(const char* key, const char*, plexus_text& reason) const {
    return module::set_at_open_only(engine.host(), key, reason);
}

std::int32_t Link::attach(plexus_view key, RemoteKey*& remote) {
    const Hold hold(port.lock);
    if (state != State::open || sender.is_broken()) return PLEXUS_LINK_LOST;
    std::int32_t status = PLEXUS_UNSUPPORTED;
    auto made = port.remote_memory()->attach(*peer_, key, status);
    if (made == nullptr) return status;
    remote = made.get();
    remotes_.push_back(std::move(made));
    return PLEXUS_OK;
}

void Link::detach(RemoteKey& remote) {
    const Hold hold(port.lock);
    std::erase_if(remotes_, [&](const auto& each) { return each.get() == &remote; });
}

template <class Call>
std::int32_t Link::move(Call&& call, std::size_t size) {
    const Hold hold(port.lock);
    if (state != State::open || sender.is_broken()) return PLEXUS_LINK_LOST;
    const Outcome outcome = call(*port.remote_memory());
    if (outcome == PLEXUS_POSTED) sender.count_posted(size);
    return outcome;
}

std::int32_t Link::get(RemoteKey& remote, std::uint64_t offset, void* into, std::size_t size, void* token) {
    return move([&](RemoteMemory& memory) { return memory.get(*peer_, remote, offset, into, size, token); },
                size);
}

std::int32_t Link::put(RemoteKey& remote, std::uint64_t offset, const void* from, std::size_t size,
                       void* token) {
    return move([&](RemoteMemory& memory) { return memory.put(*peer_, remote, offset, from, size, token); },
                size);
}

// ---- opening

void Link::connect() {
    watch.heard = Clock::now();
    watch.deadline = watch.heard + engine.settings().connect_timeout;
    if (engine.is_closing()) return lose(PLEXUS_LINK_LOST, "this context is closing");
    if (port.is_shut()) return lose(PLEXUS_LINK_LOST, port.closed().why);
    std::string why;
    std::int32_t status = PLEXUS_LINK_LOST;
    auto reached = port.reach(descriptor_, *this, status, why);
    if (reached == nullptr) return lose(status, why);
    {
        const Hold hold(port.lock);
        peer_ = std::move(reached);
    }
    opening_ = std::make_unique<Opening>(host(), peer_id_);
    say(Kind::hello, opening_->hello(mine, port.descriptor()));
}

void Link::greet(Opening opening, const End& far, std::unique_ptr<Peer> its_peer) {
    watch.heard = Clock::now();
    watch.deadline = watch.heard + engine.settings().handshake_timeout;
    opening_ = std::make_unique<Opening>(std::move(opening));
    {
        const Hold hold(port.lock);
        peer_ = std::move(its_peer);
        state = State::greeting;
        sender.far = far;
        credit.open(far.window);
    }
    say(Kind::answer, opening_->answer(mine, peer_->is_seen()));
}

void Link::take_answer(ByteView body) {
    Answer answer;
    const auto verdict = opening_->take_answer(body, answer);
    if (verdict.status == PLEXUS_AGAIN) return; // it may be anybody's: it does not end the link
    peer_->sees_us = answer.sees;
    {
        const Hold hold(port.lock);
        sender.far = answer.end; // so that the peer can be told of the end
        credit.open(answer.end.window);
    }
    if (verdict.status != PLEXUS_OK) return lose(verdict.status, verdict.why);
    if (port.traits().same_eager && answer.end.eager != mine.eager)
        return lose(PLEXUS_LINK_LOST, "the parameter eager must have the same value on both sides");
    // Before another thread can send; where it waits for room, ahead of what others send.
    say(Kind::confirm, opening_->confirm(peer_->is_seen()));
    opening_.reset();
    set_state(State::open);
    if (is_given_up()) return leave();
    host().opened(cookie);
}

void Link::take_confirm(ByteView body) {
    Confirm confirm;
    if (opening_ == nullptr || opening_->take_confirm(body, confirm).status != PLEXUS_OK) return;
    peer_id_ = opening_->peer();
    opening_.reset();
    peer_->sees_us = confirm.sees;
    set_state(State::open);
    engine.listener().opening_is_over(*this);
    if (!engine.is_closing() &&
        host().accepted(host().self, reinterpret_cast<plexus_link*>(this), &peer_id_, &cookie) == PLEXUS_OK)
        return receiver.open();
    given_up_.store(true, std::memory_order_relaxed);
    leave();
}

// ---- open

void Link::arrived(Message& message, bool& kept) {
    const ByteView body(message.body, message.size);
    const Kind kind = message.header.kind;
    if (state == State::connecting) {
        if (kind == Kind::answer && opening_ != nullptr && !engine.is_draining()) take_answer(body);
        return;
    }
    if (state == State::greeting) {
        if (kind == Kind::confirm && !engine.is_draining()) return take_confirm(body);
        if (!port.traits().keeps_order && is_ordered(kind)) {
            kept = receiver.arrived(message);
        } else if (kind == Kind::bye) {
            lose(PLEXUS_LINK_LOST, "it left");
        }
        return;
    }
    if (!is_alive(state)) return;
    watch.heard = engine.now();
    watch.asked = false;
    watch.silent = 0;
    credit.acknowledge(message.header.taken);
    if (is_ordered(kind)) {
        kept = receiver.arrived(message);
    } else if (kind == Kind::ping) {
        say(Kind::credit);
    } else if (kind == Kind::fetched) {
        ByteReader in(body);
        const auto id = static_cast<std::uint32_t>(in.number(4));
        void* token = nullptr;
        {
            const Hold hold(port.lock);
            if (in.at_end()) token = sender.fetched(id);
        }
        if (token != nullptr) host().sent(cookie, token, PLEXUS_OK);
    }
}

void Link::sent(const Event& event) {
    {
        const Hold hold(port.lock);
        sender.post_is_over(event.bytes);
    }
    host().sent(cookie, event.token, event.status);
}

bool Link::carry_on(bool& done) {
    receiver.fetch_more();
    std::vector<void*> over;
    bool went = false;
    {
        const Hold hold(port.lock);
        if (peer_ != nullptr) went = sender.carry_on(over);
        done = sender.has_nothing_left() && !receiver.has_unread();
        if (done) sender.wants_carrying = false;
    }
    for (void* const each : over) host().sent(cookie, each, PLEXUS_OK);
    return went;
}

void Link::say(Kind kind, const Bytes& body) {
    const Hold hold(port.lock);
    sender.say(kind, body);
}

bool Link::has_room(bool retry) {
    const Hold hold(port.lock);
    if (state == State::connecting || (state == State::open && !sender.has_room(retry))) return false;
    sender.grant();
    return true;
}

void Link::check_times(Clock::time_point now) {
    receiver.check_suspect(now);
    const auto dead_after = engine.settings().dead_after;
    if (state == State::connecting && now >= watch.deadline) {
        lose(PLEXUS_LINK_LOST, "the peer did not answer within connect_timeout: it is not there, or does not "
                               "hold this job's key");
    } else if (state == State::greeting && now >= watch.deadline) {
        lose(PLEXUS_LINK_LOST, "it was silent for longer than handshake_timeout");
    } else if (state == State::open && dead_after.count() > 0 && !peer_->is_seen()) {
        const auto silent = now - watch.heard;
        if (silent >= dead_after) {
            lose(PLEXUS_LINK_LOST, "the peer has not answered for so long as dead_after says");
        } else if (silent >= dead_after / 3 && !std::exchange(watch.asked, true)) {
            say(Kind::ping);
        }
    }
}

// ---- the end

void Link::leave() {
    if (state == State::open) {
        set_state(State::leaving);
        watch.deadline = Clock::now() + engine.settings().linger;
    } else if (state == State::connecting && opening_ != nullptr) {
        return; // its answer, or connect_timeout, is waited for: the peer can be told then, and has wired up
    } else if (is_opening(state)) {
        lose(PLEXUS_LINK_LOST, "given up");
    }
    engine.look_after(*this);
}

void Link::lose(std::int32_t status, std::string why) {
    if (state == State::failing || state == State::over) return;
    if (state == State::greeting) engine.listener().opening_is_over(*this);
    set_state(State::failing);
    watch.status = status;
    watch.why = std::move(why);
    watch.deadline = Clock::now() + kMostFailing;
    engine.look_after(*this);
}

void Link::end_everything() {
    std::vector<void*> tokens;
    {
        const Hold hold(port.lock);
        state = State::over;
        tokens = sender.give_up();
    }
    receiver.end();
    for (void* const each : tokens) host().sent(cookie, each, PLEXUS_MESSAGE_LOST);
}

bool Link::try_to_end(bool& freed) {
    freed = false;
    if (watch.exited && ++watch.silent == kSilentTurns)
        lose(PLEXUS_LINK_LOST, "the peer's process has ended");
    if (state == State::open) { // it does not end, or not yet
        watch.ending = watch.exited;
        return !watch.exited;
    }
    if (state == State::leaving || state == State::failing) {
        bool idle = false;
        bool posted = false;
        {
            const Hold hold(port.lock);
            posted = sender.has_posted();
            idle = state == State::failing ? !posted : sender.is_idle();
        }
        const bool shut = port.is_shut();
        const bool gone = shut || (state == State::leaving && watch.exited);
        if ((!idle || receiver.is_writing()) && !gone && Clock::now() < watch.deadline) return false;
        // Past the deadline only what the port may still write or read counts.
        if (!shut && (posted || receiver.is_writing())) {
            port.cut(*peer_);
            if (!port.is_shut()) return false; // its events come first
        }
        if (state == State::failing) {
            report_lost();
        } else {
            end_everything();
            watch.deadline = Clock::now() + kMostGoodbyes;
            say(Kind::bye);
        }
    }
    if (state != State::over) return false;
    const bool late = Clock::now() >= watch.deadline || watch.exited;
    if (late) {
        const Hold hold(port.lock);
        sender.fall_silent();
    }
    freed = (is_given_up() || cookie == nullptr) && may_be_freed();
    if (freed) return true;
    if (!late) return false;
    watch.ending = false; // its host, or an event, brings it back
    return true;
}

bool Link::may_tell_peer() {
    const Hold hold(port.lock);
    return peer_ != nullptr && sender.far.slot != kNoSlot && !receiver.peer_said_bye() && !watch.exited &&
           watch.status != PLEXUS_WRONG_PEER && !peer_->has_ended() && !sender.is_broken();
}

void Link::report_lost() {
    const bool tell_peer = may_tell_peer();
    const bool host_knows = cookie != nullptr;
    if (!host_knows) host().log(host().self, PLEXUS_DEBUG, ("a peer was turned away: " + watch.why).c_str());
    end_everything();
    watch.deadline = Clock::now() + kMostGoodbyes;
    if (tell_peer) say(Kind::bye);
    if (host_knows && !is_given_up()) host().lost(cookie, watch.status, module::view(watch.why));
}

bool Link::may_be_freed() {
    const bool late = Clock::now() >= watch.deadline || watch.exited;
    const Hold hold(port.lock);
    if (port.is_shut()) return !sender.has_posted();
    if (receiver.is_writing() || sender.has_posted()) return false;
    return late || sender.is_broken() || peer_ == nullptr ||
           (!port.is_sending(*peer_) && !sender.has_unsaid());
}

} // namespace plexus::message_link
