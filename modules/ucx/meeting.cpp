// SPDX-License-Identifier: BSD-3-Clause
// How a link begins: three signed words over active messages, and nothing of the peer's
// reaches the host before they have been checked.
#include "ucx/link.h"
#include "ucx/module.h"

#include <algorithm>

namespace plexus::ucx {
namespace {

// More than a hello needs; a stranger's are not looked at.
constexpr std::size_t kMostWord = 2048;

ByteView bytes_of(const Arrival& arrival) {
    return {static_cast<const std::uint8_t*>(arrival.bytes()), arrival.size};
}

template <class Record>
void copy_record(const Bytes& from, Record& to) {
    std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
}

} // namespace

void Link::begin() {
    if (!trusted) return lose(PLEXUS_DENIED, "its descriptor was not made by a holder of this job's key");
    std::string why;
    Way* to = module.way_to(target, why);
    if (to == nullptr) return lose(PLEXUS_LINK_LOST, why);
    Hello hello;
    {
        const Hold hold(module.lock());
        way = to;
        state = State::greeting;
        hello.end = mine;
    }
    ++way->links;
    handshake_ = std::make_unique<module::Handshake>(module::Handshake::connecting(module.host(), peer));
    hello.descriptor = module.own_descriptor();
    copy_record(handshake_->take_outgoing(), hello.record);
    Bytes word = hello.write();
    sign(module.host(), Kind::hello, word);
    if (say(Kind::hello, std::move(word))) module.watch(*this, module.options().connect_timeout);
}

void Link::greet(const Hello& hello, module::Handshake handshake, Way& to) {
    connects_ = false;
    Answer answer;
    {
        const Hold hold(module.lock());
        way = &to;
        theirs_ = hello.end;
        state = State::greeting;
        answer.end = mine;
    }
    ++way->links;
    handshake_ = std::make_unique<module::Handshake>(std::move(handshake));
    copy_record(handshake_->take_outgoing(), answer.record);
    Bytes word = answer.write();
    sign(module.host(), Kind::answer, word);
    if (say(Kind::answer, std::move(word))) module.watch(*this, module.options().handshake_timeout);
}

void Link::answered(Arrival& arrival) {
    const auto said = signed_part(module.host(), Kind::answer, bytes_of(arrival));
    const auto answer = said ? Answer::read(*said) : std::nullopt;
    drop(arrival);
    if (!answer || !connects_ || handshake_ == nullptr)
        return lose(PLEXUS_DENIED, "answered, but does not hold this job's key");
    switch (handshake_->feed(answer->record)) {
    case PLEXUS_OK:
        break;
    case PLEXUS_WRONG_PEER:
        return lose(PLEXUS_WRONG_PEER, "another context answered");
    case PLEXUS_UNSUPPORTED:
        return lose(PLEXUS_LINK_LOST, "the peer runs another release of Plexus");
    default:
        return lose(PLEXUS_DENIED, "answered, but does not hold this job's key");
    }
    {
        const Hold hold(module.lock());
        theirs_ = answer->end;
    }
    deadline = Clock::time_point::max();
    if (given_up()) { // the other end waits for the next word
        leave();
        return;
    }
    Bytes word = handshake_->take_outgoing();
    sign(module.host(), Kind::confirm, word);
    handshake_.reset();
    if (!say(Kind::confirm, std::move(word))) return;
    bool wanted = false;
    {
        const Hold hold(module.lock());
        state = State::open;
        wanted = std::exchange(wishes, false);
    }
    established_ = true;
    module.host().opened(cookie);
    if (wanted && !given_up()) module.host().writable(cookie);
}

void Link::confirmed(Arrival& arrival) {
    const auto said = signed_part(module.host(), Kind::confirm, bytes_of(arrival));
    const bool proved =
        said && said->size() == handshake_->wanted_bytes() && handshake_->feed(*said) == PLEXUS_OK;
    drop(arrival);
    if (!proved) return lose(PLEXUS_DENIED, "the peer did not prove that it holds this job's key");
    peer = handshake_->peer();
    handshake_.reset();
    deadline = Clock::time_point::max();
    {
        const Hold hold(module.lock());
        state = State::open;
    }
    const plexus_host& host = module.host();
    established_ = !module.closing() && host.accepted(host.self, reinterpret_cast<plexus_link*>(this), &peer,
                                                      &cookie) == PLEXUS_OK;
    if (established_) return;
    given_up_.store(true, std::memory_order_relaxed);
    leave();
}

void Link::expired() {
    deadline = Clock::time_point::max();
    if (state == State::leaving) return cut_short();
    if (given_up() || !connects_) return lose(PLEXUS_LINK_LOST, "no proof within handshake_timeout");
    lose(PLEXUS_LINK_LOST, "the peer did not answer within connect_timeout: it has ended, does not hold this "
                           "job's key, or can't reach this context");
}

void Module::greeted(Arrival& arrival) {
    if (arrival.size > kMostWord || closing()) return release(arrival);
    const auto said = signed_part(host_, Kind::hello, bytes_of(arrival));
    const auto hello = said ? Hello::read(*said) : std::nullopt;
    release(arrival);
    if (!hello) return turn_down("does not hold this job's key");
    const plexus_view bytes = module::view(hello->descriptor.data(), hello->descriptor.size());
    auto from = Descriptor::decode(bytes);
    if (!from || !Descriptor::sealed(host_, bytes)) return turn_down("its descriptor is damaged");
    if (const std::string why = from->why_not(self_); !why.empty()) return turn_down(why.c_str());
    auto handshake = module::Handshake::accepting(host_);
    const std::int32_t verdict = handshake.feed(hello->record);
    if (verdict != PLEXUS_AGAIN && verdict != PLEXUS_WRONG_PEER)
        return turn_down("does not hold this job's key");
    std::string why;
    Way* way = way_to(*from, why);
    if (way == nullptr)
        return log(PLEXUS_DEBUG, "a link came in from a context that can't be reached: " + why);
    auto* link = new Link(*this, nullptr, {}, {});
    enter(*link);
    link->greet(*hello, std::move(handshake), *way);
    if (verdict == PLEXUS_WRONG_PEER) link->lose(verdict, "");
}

// A line a minute: who knocks without a key may do so often.
void Module::turn_down(const char* why) {
    const auto now = Clock::now();
    if (now < quiet_until_) return;
    quiet_until_ = now + std::chrono::minutes(1);
    log(PLEXUS_WARN, std::string("a stranger's link was refused: ") + why);
}

} // namespace plexus::ucx
