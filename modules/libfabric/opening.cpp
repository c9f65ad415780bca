// SPDX-License-Identifier: BSD-3-Clause
// Module: how a link comes about. Three messages, each signed with the job's key, of which a
// stranger's is dropped without an answer. @thread progress
#include "libfabric/module.h"

#include <algorithm>
#include <sys/epoll.h>

namespace plexus::libfabric {
namespace {

// True if a peer is where this port can answer it.
bool is_on(const Port& port, const Address& there) {
    const Address& own = port.address();
    return there.provider == own.provider && there.format == own.format && there.protocol == own.protocol &&
           there.reach == own.reach;
}

template <std::size_t N>
void fill(std::array<std::uint8_t, N>& record, const std::vector<std::uint8_t>& from) {
    std::copy_n(from.begin(), std::min(N, from.size()), record.begin());
}

} // namespace

bool Module::give_slot(Link& link) {
    host_.random(host_.self, &link.token, sizeof link.token);
    const module::Lock hold(books_);
    if (!free_slots_.empty()) {
        link.slot = free_slots_.back();
        free_slots_.pop_back();
        slots_[link.slot] = &link;
        return true;
    }
    if (slots_.size() >= kNoSlot) return false;
    link.slot = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(&link);
    return true;
}

bool Module::know_peer(Link& link) {
    int error = 0;
    {
        const module::Lock hold(link.port.mutex());
        error = link.port.add_peer(link.target.address.name, link.at);
    }
    link.known = error == 0;
    if (!link.known)
        link.lose(PLEXUS_LINK_LOST, "the provider does not take the peer's address: " + text_of_error(error));
    return link.known;
}

// Peers of this host are watched, and may be woken and read.
void Module::watch_peer(Link& link) {
    if (!link.target.where.same_boot(self_.where)) return;
    (void)link.page.open(link.target.bell, link.target.where.same_processes(self_.where));
    if (link.page.process_fd() < 0) return;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = kPeer + link.slot;
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.page.process_fd(), &event);
}

void Module::begin(Link& link) {
    if (!give_slot(link)) {
        strays_.push_back(&link);
        return link.lose(PLEXUS_LINK_LOST, "this context has as many links as it can");
    }
    if (closing()) return link.lose(PLEXUS_LINK_LOST, "this context is closing");
    link.deadline = link.heard = Clock::now();
    link.deadline += options_.connect_timeout;
    if (link.port.is_shut()) return link.lose(PLEXUS_LINK_LOST, link.port.end().why);
    if (!know_peer(link)) return;
    watch_peer(link);
    if (link.page.is_gone()) return link.lose(PLEXUS_LINK_LOST, "the peer's process has ended");
    link.handshake = std::make_unique<module::Handshake>(module::Handshake::connecting(host_, link.peer));
    Hello hello;
    hello.slot = link.slot;
    hello.token = link.token;
    hello.window = options_.window;
    hello.eager = static_cast<std::uint32_t>(link.port.eager());
    hello.descriptor = descriptor_of(link.port).encode();
    fill(hello.record, link.handshake->take_outgoing());
    Bytes message = hello.write();
    sign(host_, Kind::hello, message);
    (void)link.say(Kind::hello, message);
}

void Module::take_hello(Port& port, ByteView body) {
    if (closing() || strangers_ >= kMostStrangers || port.is_shut()) return;
    const auto said = signed_part(host_, Kind::hello, body);
    const auto hello = said ? Hello::read(*said) : std::nullopt;
    auto peer = hello ? Descriptor::decode(hello->descriptor) : std::nullopt;
    auto handshake = module::Handshake::accepting(host_);
    const std::int32_t verdict =
        peer && is_on(port, peer->address) ? handshake.feed(hello->record) : PLEXUS_DENIED;
    if (verdict != PLEXUS_AGAIN && verdict != PLEXUS_WRONG_PEER) {
        host_.log(
            host_.self, PLEXUS_DEBUG,
            "a stranger was turned away: it does not hold the job's key, or does not speak this protocol");
        return;
    }
    auto made = std::make_unique<Link>(*this, port, nullptr, handshake.peer(), std::move(*peer));
    if (!give_slot(*made)) return;
    Link& link = *made.release();
    link.state = Link::State::greeting;
    link.deadline = link.heard = Clock::now();
    link.deadline += options_.handshake_timeout;
    link.peer_slot = hello->slot;
    link.peer_token = hello->token;
    link.window = hello->window;
    ++strangers_;
    if (!know_peer(link)) return;
    watch_peer(link);
    Answer answer;
    answer.slot = link.slot;
    answer.token = link.token;
    answer.window = options_.window;
    answer.eager = static_cast<std::uint32_t>(port.eager());
    answer.rings = link.page.is_open();
    fill(answer.record, handshake.take_outgoing());
    Bytes message = answer.write();
    sign(host_, Kind::answer, message);
    (void)link.say(Kind::answer, message);
    link.handshake = std::make_unique<module::Handshake>(std::move(handshake));
    if (verdict == PLEXUS_WRONG_PEER) return link.lose(PLEXUS_WRONG_PEER, "it looks for another context");
    if (hello->eager != port.eager()) link.lose(PLEXUS_LINK_LOST, "its parameter eager has another value");
}

void Module::take_answer(Link& link, ByteView body) {
    const auto said = signed_part(host_, Kind::answer, body);
    const auto answer = said ? Answer::read(*said) : std::nullopt;
    if (!answer || link.handshake == nullptr) return; // whoever it was, he may not end the link
    link.heard = now_;
    link.peer_rings = answer->rings;
    link.peer_slot = answer->slot;
    link.peer_token = answer->token;
    const std::int32_t verdict = link.handshake->feed(answer->record);
    if (verdict == PLEXUS_WRONG_PEER) return link.lose(verdict, "another context answered");
    if (verdict == PLEXUS_UNSUPPORTED)
        return link.lose(PLEXUS_LINK_LOST, "the peer runs another release of Plexus");
    if (verdict != PLEXUS_OK) return link.lose(PLEXUS_DENIED, "the peer does not hold this job's key");
    if (answer->eager != link.port.eager())
        return link.lose(PLEXUS_LINK_LOST, "the parameter eager must have the same value on both sides");
    Confirm confirm;
    confirm.rings = link.page.is_open();
    fill(confirm.record, link.handshake->take_outgoing());
    link.handshake.reset();
    Bytes message = confirm.write();
    sign(host_, Kind::confirm, message);
    (void)link.say(Kind::confirm, message); // before another thread can send, or ahead of it where it waits
    link_count_.fetch_add(1, std::memory_order_relaxed);
    {
        const module::Lock hold(link.port.mutex());
        link.state = Link::State::open;
        link.window = answer->window;
    }
    if (!link.given_up()) host_.opened(link.cookie);
}

void Module::take_confirm(Link& link, ByteView body) {
    const auto said = signed_part(host_, Kind::confirm, body);
    const auto confirm = said ? Confirm::read(*said) : std::nullopt;
    if (!confirm || link.handshake == nullptr || link.handshake->feed(confirm->record) != PLEXUS_OK) return;
    link.handshake.reset();
    link.peer_rings = confirm->rings;
    link.heard = now_;
    {
        const module::Lock hold(link.port.mutex());
        link.state = Link::State::open;
    }
    --strangers_;
    link_count_.fetch_add(1, std::memory_order_relaxed);
    if (host_.accepted(host_.self, reinterpret_cast<plexus_link*>(&link), &link.peer, &link.cookie) ==
        PLEXUS_OK)
        return;
    link.refuse();
    leave(link);
}

} // namespace plexus::libfabric
