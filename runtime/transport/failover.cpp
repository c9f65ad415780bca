// SPDX-License-Identifier: BSD-3-Clause
#include "transport/failover.h"

#include "base/trace.h"
#include "transport/reach.h"
#include "transport/route.h"

#include <algorithm>
#include <iterator>

namespace plexus::transport {

using std::chrono::nanoseconds;

namespace {

/// A module that has no memory for a frame is asked again after so long.
constexpr auto kMemoryPause = std::chrono::milliseconds(20);
/// A peer that may come back is dialled after so long, then after twice as long, and so on.
constexpr auto kFirstRedial = std::chrono::milliseconds(50);
/// The other links of a peer whose process has ended are read for so long.
constexpr auto kEndedRest = std::chrono::seconds(1);
constexpr auto kForgetLook = std::chrono::seconds(5);
/// So many looks ask a silent peer before it is given up: this context may have taken no turn for long.
constexpr std::uint32_t kAsked = 2;
/// More peers that nobody uses are forgotten before their time.
constexpr std::size_t kMostIdlePeers = 4096;
constexpr const char* kEnded = "it has ended";

nanoseconds pause_after(std::uint32_t links_in_vain) {
    constexpr std::uint32_t kLongest = 6;
    return links_in_vain < 2 ? nanoseconds{0}
                             : std::chrono::milliseconds(1u << std::min(links_in_vain - 2, kLongest));
}

wire::View head_of(const PendingFrame& frame) {
    return {static_cast<const std::byte*>(frame.pieces[0].data), frame.pieces[0].size};
}

PendingFrames all_frames(Backlog backlog) {
    PendingFrames all;
    const auto take = [&](PendingFrames& from) {
        for (PendingFramePtr& frame : from) all.push_back(std::move(frame));
    };
    for (ReplayRequest& request : backlog.requests) take(request.frames);
    take(backlog.unsent);
    return all;
}

/// Takes out the frames that may not move to another method.
PendingFrames take_staying(Backlog& backlog) {
    PendingFrames staying;
    const auto sift = [&](PendingFrames& from) {
        PendingFrames kept;
        for (PendingFramePtr& frame : from) (frame->asked.stays ? staying : kept).push_back(std::move(frame));
        from.swap(kept);
    };
    // How much of a stream has arrived is asked for all of its frames: until that is known they stay or move
    // together, and those that stay end then (ReplayRequest::moved).
    for (ReplayRequest& request : backlog.requests)
        if (request.answered || std::all_of(request.frames.begin(), request.frames.end(),
                                            [](const auto& f) { return f->asked.stays; }))
            sift(request.frames);
    std::erase_if(backlog.requests, [](const ReplayRequest& request) { return request.frames.empty(); });
    sift(backlog.unsent);
    return staying;
}

Link* out_of(Channel& channel) {
    return channel.on_outbox([](Outbox& outbox) { return outbox.out(); });
}

void flush(Channel& channel) {
    channel.on_outbox([](Outbox& outbox) {
        if (outbox.out() != nullptr) outbox.flush(*outbox.out());
    });
}

void tell_uncertain(Endpoint& endpoint, Channel& of, std::uint64_t frames, const std::string& why) {
    if (frames == 0) return;
    endpoint.listener().calls_uncertain(of);
    endpoint.listener().on_error(Status::message_lost,
                                 fmt::format("up to {} messages to {} may not have been delivered: {}: {}",
                                             frames, of.peer().text(), of.row_name(), why));
}

bool has_open_link(const Peer& peer) {
    const std::vector<Channel*> channels = peer.all_channels();
    return std::any_of(channels.begin(), channels.end(),
                       [](const Channel* each) { return !each->open_links().empty(); });
}

void tell_lost(Endpoint& endpoint, Channel& of, Backlog backlog, Status status, const std::string& why) {
    Peer& peer = of.peer();
    PendingFrames frames = all_frames(std::move(backlog));
    if (frames.empty()) return;
    std::vector<wire::View> heads;
    bool answers = false;
    std::uint64_t reports = 0;
    for (const PendingFramePtr& frame : frames) {
        heads.push_back(head_of(*frame));
        answers = answers || is_answer(heads.back());
        reports += is_report(heads.back()) ? 1 : 0;
    }
    if (answers) endpoint.note_dropped(peer, wire::Dropped::answers);
    if (reports > 0) endpoint.note_dropped(peer, wire::Dropped::reports, reports);
    endpoint.listener().frames_lost(peer, heads, status, why);
    const auto pins = of.on_outbox([&](Outbox& outbox) { // let go of without the lock
        outbox.frames().retire(std::move(frames), status);
        return outbox.frames().take_pins();
    });
}

void declare_lost(Endpoint& endpoint, Peer& peer, Status status, const std::string& why) {
    bool tell = why != kEnded;
    {
        Lock hold(peer.mutex);
        if (peer.state.presence == Presence::gone) return;
        if (std::exchange(peer.state.presence, Presence::lost) == Presence::lost) tell = false;
        peer.state.status = status;
        peer.state.why = why;
        peer.state.since = Clock::now();
    }
    endpoint.listener().peer_lost(peer, status, why);
    if (tell) endpoint.listener().peer_event(peer, Status::peer_lost, why);
}

// From now on the channel is dead, and nobody takes over what it held.
void end_channel(Endpoint& endpoint, Channel& channel, Status status, const std::string& why) {
    Backlog backlog = channel.begin_move();
    channel.end(nullptr);
    tell_lost(endpoint, channel, std::move(backlog), status, why);
}

/// `closing`: this context has said goodbye on all links.
void count_loss(const Link& link, bool closing) {
    if (link.open && !link.goodbye && !closing) MethodCounts::one_more(link.interface.counts.losses);
}

/// What the link says of its break. Notes what it says of the peer.
BreakFacts facts_of(Link& link, const Channel::Loss& loss, Status status) {
    BreakFacts facts;
    facts.link.status = status;
    facts.link.was_way = loss.was_way;
    facts.link.opened = link.open;
    facts.link.said_goodbye = link.goodbye;
    facts.link.in_vain = loss.in_vain;
    const std::vector<Link*> open = link.channel->open_links();
    facts.channel.other_link =
        std::any_of(open.begin(), open.end(), [](const Link* each) { return !each->ignored; });
    Lock hold(link.peer->mutex);
    PeerState& state = link.peer->state;
    if (status == Status::peer_lost) state.ended = true; // no other module needs to find out
    if (loss.was_way && (status == Status::denied || status == Status::no_method)) state.status = status;
    return facts;
}

/// The row of the peer's table that would take over from a channel, or else the channel that has a link.
OtherRow find_other_row(Endpoint& endpoint, Channel& channel, const std::string& why) {
    OtherRow other{channel.peer().owners_table(), {}, nullptr};
    for (Channel* each : channel.peer().all_channels())
        if (each != &channel && !each->dead() && out_of(*each) != nullptr) other.linked = each;
    if (other.known == nullptr) return other;
    other.choice =
        method::first_applicable(other.known->table, [&](const Descriptor& row) -> method::Applicable {
            if (share_rows(row.method, channel.row_name())) return {false, why};
            return applicable(endpoint, &channel.peer(), row, other.known->table.place());
        });
    return other;
}

} // namespace

int32_t Failover::accepted(Interface& interface, plexus_link* handle, const ContextId& who, void** cookie) {
    if (said_goodbye_) return PLEXUS_AGAIN;
    const auto peer = endpoint_.peer(who);
    const Presence presence = peer->presence();
    if (presence == Presence::gone) return PLEXUS_PEER_LOST;
    // While this context closes, only for what was begun before.
    if (endpoint_.closing() && presence == Presence::unknown) return PLEXUS_AGAIN;
    // Without a word of this side: who hears none on one link after the other gives up.
    const auto& shut_out = peer->relation.shut_out;
    if (const auto found = shut_out.find(&interface);
        found != shut_out.end() && Clock::now() < found->second) {
        MethodCounts::one_more(interface.counts.refusals);
        return PLEXUS_DENIED;
    }
    if (const auto said = peer->said_table()) {
        const std::string& row = interface.row_of(handle);
        if (const std::string why = forbids(endpoint_, interface, row, said->table); !why.empty()) {
            warn_of_refusal(endpoint_, *peer, row, why);
            MethodCounts::one_more(interface.counts.refusals);
            return PLEXUS_NO_METHOD;
        }
    }
    // Whoever comes by this method can be answered by it; how to dial the peer its hello will say.
    Channel& channel = endpoint_.channel(*peer, Descriptor{interface.row_of(handle), {}, {}});
    Link& link = channel.accept(handle);
    *cookie = &link;
    arrived(link);
    return PLEXUS_OK;
}

void Failover::opened(Link& link) {
    link.open = true;
    if (link.peer->said_table() != nullptr)
        placed(*link.peer); // on another link, perhaps since the dial began
    if (!link.lost) arrived(link);
}

void Failover::arrived(Link& link) {
    Peer& peer = *link.peer;
    Channel& channel = *link.channel;
    bool back = false;
    {
        Lock hold(peer.mutex);
        back = peer.state.presence == Presence::lost;
        peer.state.presence = Presence::here;
        peer.state.status = Status::ok;
        peer.state.ended = false;
        peer.state.forget_failure(channel.row_name());
    }
    link.liveness.since = Clock::now();
    channel.adopt(link);
    endpoint_.listener().calls_lost(channel, WhichCalls::uncertain, Status::message_lost,
                                    "the connection had broken");
    for (Channel* other : peer.all_channels())
        if (other != &channel && !channel.dead() && other->condition().awaits)
            move(*other, channel, "the peer came back by another method");
    endpoint_.listener().peer_arrived(peer);
    if (back) endpoint_.listener().peer_event(peer, Status::peer_back, "by " + channel.row_name());
}

void Failover::placed(Peer& peer) {
    const auto said = peer.said_table();
    for (Channel* channel : peer.all_channels()) {
        const std::string why = forbids(endpoint_, channel->interface(), channel->row_name(), said->table);
        if (why.empty()) continue;
        for (Link* link : channel->open_links()) {
            warn_of_refusal(endpoint_, peer, channel->row_name(), why);
            reject(*link, why, Status::no_method);
        }
    }
}

bool Failover::mark_lost(Link& link) {
    if (link.lost) return false;
    link.lost = true;
    link.ignored = true; // its count is final: the peer may ask for it at once, on another link
    if (link.received.stream() != 0)
        link.peer->relation.past.remember(link.received.stream(), link.received.count());
    lost_.push_back(&link);
    endpoint_.scheduler().request_deferred_work();
    return true;
}

void Failover::lost(Link& link, Status status, const std::string& why) {
    if (!mark_lost(link)) return;
    count_loss(link, said_goodbye_);
    const Channel::Loss loss = link.channel->link_lost(link, why);
    tell_uncertain(endpoint_, *link.channel, loss.unknown, why);
    const std::shared_ptr<Peer> peer = link.peer;
    replace(*link.channel, facts_of(link, loss, status), why);
    if (status != Status::peer_lost || !has_open_link(*peer)) return;
    // Other methods may not notice, for instance if a child of the peer's process holds its sockets. What has
    // come by them is read before they end.
    ended_.push_back({Clock::now() + kEndedRest, peer, nullptr, why});
    endpoint_.scheduler().request_deferred_work();
}

void Failover::end(Link& link, const std::string& why) {
    if (!mark_lost(link)) return;
    count_loss(link, said_goodbye_);
    const Channel::Loss loss = link.channel->link_lost(link, why);
    return_to_module(link);
    tell_uncertain(endpoint_, *link.channel, loss.unknown, why);
    replace(*link.channel, facts_of(link, loss, Status::link_lost), why);
}

void Failover::reject(Link& link, const std::string& why, Status status) {
    if (!mark_lost(link)) return;
    MethodCounts::one_more(link.interface.counts.refusals);
    const Channel::Loss loss = link.channel->link_lost(link, why);
    tell_uncertain(endpoint_, *link.channel, loss.unknown, why);
    BreakFacts facts = facts_of(link, loss, status);
    facts.link.broke_rules = true;
    replace(*link.channel, facts, why);
}

/// A link to the peer is open, or one is made or waited for.
bool Failover::is_reached(const Peer& peer) const {
    if (has_open_link(peer)) return true;
    for (const Channel* each : peer.all_channels())
        if (each->condition().leads) return true;
    return std::any_of(retries_.begin(), retries_.end(),
                       [&](const Timed& each) { return each.peer.get() == &peer && !each.channel->dead(); });
}

// A channel has no way any more, and these are the facts of its link: what takes its place?
void Failover::replace(Channel& channel, BreakFacts facts, const std::string& why) {
    Peer& peer = channel.peer();
    std::erase_if(retries_, [&](const Timed& each) { return each.channel == &channel; });
    facts.closing = said_goodbye_;
    const Channel::Condition now = channel.condition();
    facts.channel.wanted = now.at_stake || endpoint_.listener().awaits(channel);
    facts.channel.may_return = now.may_return;
    facts.peer.last_way = !is_reached(peer);
    {
        Lock hold(peer.mutex);
        facts.peer.gone = peer.state.presence == Presence::gone;
        facts.peer.ended = peer.state.ended;
        facts.peer.denied = peer.state.status == Status::denied;
        facts.peer.beyond = peer.state.status == Status::no_method;
    }
    const OtherRow other = find_other_row(endpoint_, channel, why);
    facts.row_applies = other.choice.row.has_value() || other.linked != nullptr;
    facts.fallback_allowed = endpoint_.options().fallback != Fallback::forbid;
    const Decision decision = decide(facts);
    if (decision.action == Action::nothing) return;
    if (decision.action == Action::peer_closed) return peer_closed(peer.shared_from_this());
    log::info("transport", "{} {} {}: {}: {}", channel.row_name(),
              facts.link.opened ? "has lost its connection to" : "does not reach", peer.text(), why,
              decision.because);
    PLEXUS_TRACE4(repair, peer.short_id.c_str(), channel.row_name().c_str(), decision.because, why.c_str());
    const bool gives_row_up = decision.action == Action::next_row ||
                              decision.action == Action::choose_again || decision.action == Action::lost;
    if (gives_row_up && !facts.channel.waited) {
        Lock hold(peer.mutex);
        peer.state.failed[channel.row_name()] = why;
    }
    if (decision.action == Action::retry || decision.action == Action::reconnect)
        MethodCounts::one_more(channel.interface().counts.repairs);
    if (decision.action == Action::retry)
        retries_.push_back(
            {Clock::now() + pause_after(facts.link.in_vain), peer.shared_from_this(), &channel, why});
    else
        carry_out(decision, channel, other, why);
}

void Failover::carry_out(const Decision& decision, Channel& channel, const OtherRow& other,
                         const std::string& why) {
    Peer& peer = channel.peer();
    switch (decision.action) {
    case Action::nothing:
    case Action::peer_closed:
    case Action::retry:
        return; // done
    case Action::use_other_link:
        for (Link* link : channel.open_links())
            if (!link->ignored) return channel.adopt(*link);
        return;
    case Action::reconnect:
        return channel.reconnect();
    case Action::await_peer:
        channel.await_peer();
        return await(channel, why);
    case Action::next_row: {
        Channel& next =
            other.choice.row ? endpoint_.channel(peer, other.known->table[*other.choice.row]) : *other.linked;
        if (endpoint_.options().fallback == Fallback::warn)
            endpoint_.warn_once(fmt::format("{} is to be reached by {} from now on: {}: {}", peer.text(),
                                            next.row_name(), channel.row_name(), why));
        if (channel.dead()) return next.reconnect(); // its frames are elsewhere
        MethodCounts::one_more(next.interface().counts.fallbacks);
        return move(channel, next, why);
    }
    case Action::choose_again:
        channel.begin_move();
        return channel.end(nullptr);
    case Action::lost: {
        std::string all = channel.row_name() + ": " + why;
        for (const Verdict& verdict : other.choice.trail)
            if (!verdict.applies && verdict.method != channel.row_name())
                all += "; " + verdict.method + ": " + verdict.because;
        return give_up(channel, decision.end, all);
    }
    }
}

void Failover::move(Channel& from, Channel& to, const std::string& why) {
    endpoint_.listener().calls_lost(from, WhichCalls::uncertain, Status::message_lost, why);
    Backlog backlog = from.begin_move();
    Backlog staying;
    staying.unsent = take_staying(backlog);
    to.adopt(std::move(backlog));
    from.end(&to);
    endpoint_.listener().calls_moved(from, to);
    tell_lost(endpoint_, from, std::move(staying), Status::message_lost,
              from.row_name() + ": " + why + ", and falling back is forbidden");
}

// No row is left.
void Failover::give_up(Channel& channel, Status end, const std::string& why) {
    Peer& peer = channel.peer();
    Backlog backlog;
    if (!channel.dead()) {
        backlog = channel.begin_move();
        channel.end(nullptr);
    }
    bool ended = false;
    {
        Lock hold(peer.mutex);
        ended = peer.state.ended;
    }
    // A peer that has ended is not waited for, but what it has sent is read.
    const bool lost = ended ? !has_open_link(peer) : !is_reached(peer);
    if (lost) declare_lost(endpoint_, peer, end, why);
    endpoint_.listener().calls_lost(channel, WhichCalls::all, end, why);
    tell_lost(endpoint_, channel, std::move(backlog), end, why);
    if (!lost) return;
    for (Channel* each : peer.all_channels()) // what they hold has no way either
        if (!each->dead()) end_channel(endpoint_, *each, end, why);
}

// On each of its links a peer acknowledges what it got, then says goodbye: only after the last of
// them is it known what did not arrive.
void Failover::goodbye(Link& link) {
    link.goodbye = true;
    peer_closed(link.peer);
}

void Failover::peer_closed(const std::shared_ptr<Peer>& peer) {
    const std::vector<Channel*> channels = peer->all_channels();
    for (const Channel* channel : channels)
        for (const Link* link : channel->open_links())
            if (!link->goodbye) return;
    declare_lost(endpoint_, *peer, Status::peer_lost, kEnded);
    {
        Lock hold(peer->mutex);
        if (std::exchange(peer->state.presence, Presence::gone) == Presence::gone) return;
    }
    for (Channel* channel : channels)
        if (!channel->dead()) end_channel(endpoint_, *channel, Status::peer_lost, kEnded);
    leaving_.push_back(peer);
}

void Failover::abandon_all(Peer& peer) {
    for (Channel* channel : peer.all_channels()) {
        if (channel->dead()) continue;
        PendingFrames frames = all_frames(channel->begin_move());
        channel->end(nullptr);
        const auto pins = channel->on_outbox([&](Outbox& outbox) { // let go of without the lock
            auto& lost = outbox.events().lost;
            std::move(lost.begin(), lost.end(), std::back_inserter(frames));
            lost.clear();
            outbox.frames().retire(std::move(frames), Status::closed);
            return outbox.frames().take_pins();
        });
    }
}

void Failover::clear() {
    lost_.clear();
    retries_.clear();
    flushes_.clear();
    awaited_.clear();
    ended_.clear();
    leaving_.clear();
}

// Deferred work.

nanoseconds Failover::run() {
    // First, so that what a module held does not leave by another link before the module was told.
    release_lost();
    attend();
    release_lost();
    // forget() counts the holders of a peer: this list may be the only one besides the endpoint's.
    std::erase_if(leaving_, [&](const std::shared_ptr<Peer>& peer) {
        if (in_use(*peer)) return peer->presence() != Presence::gone;
        return endpoint_.forget(peer);
    });
    const bool timed = !retries_.empty() || !flushes_.empty() || !awaited_.empty();
    const Clock::time_point now = Clock::now();
    nanoseconds next = timed ? std::min(retry_links(now), check_awaited(now)) : nanoseconds::max();
    next = std::min({next, check_ended(now), check_silence(now)});
    return std::min(next, forget_idle(now));
}

void Failover::attend() {
    for (const Attention& each : endpoint_.take_attention()) {
        Channel& channel = *each.channel;
        Outbox::Events events =
            channel.on_outbox([](Outbox& outbox) { return std::exchange(outbox.events(), {}); });
        const auto pins = // let go of without the lock
            channel.on_outbox([](Outbox& outbox) { return outbox.frames().take_pins(); });
        // connect() said no at once: told here, outside of the caller's locks.
        for (Link* link : events.failed) lost(*link, Status::link_lost, "no connection could be started");
        Backlog lost;
        std::move(events.lost.begin(), events.lost.end(), std::back_inserter(lost.unsent));
        if (!lost.unsent.empty()) {
            const Status status = lost.unsent.front()->outcome;
            tell_lost(endpoint_, channel, std::move(lost), status, events.why);
        }
        const Clock::time_point now = Clock::now();
        if (events.awaits) await(channel, "it did not connect again, and it can't be dialled from here");
        if (events.flush) flush(channel);
        if (events.retry) flushes_.push_back({now + kMemoryPause, each.peer, &channel, {}});
    }
}

nanoseconds Failover::retry_links(Clock::time_point now) {
    nanoseconds next = nanoseconds::max();
    const auto take_due = [&](std::vector<Timed>& from) {
        const auto due = std::stable_partition(from.begin(), from.end(),
                                               [&](const Timed& each) { return each.when > now; });
        std::vector<Timed> taken;
        std::move(due, from.end(), std::back_inserter(taken));
        from.erase(due, from.end());
        for (const Timed& each : from) next = std::min<nanoseconds>(next, each.when - now);
        return taken;
    };
    for (const Timed& each : take_due(retries_)) each.channel->reconnect();
    for (const Timed& each : take_due(flushes_)) flush(*each.channel);
    return next;
}

void Failover::await(Channel& channel, const std::string& why) {
    const bool known = std::any_of(awaited_.begin(), awaited_.end(),
                                   [&](const Awaited& each) { return each.channel == &channel; });
    if (known) return; // another dial was in vain: the time that the peer has is not longer for that
    const Clock::time_point now = Clock::now();
    awaited_.push_back({now + endpoint_.options().reconnect_timeout, channel.peer().shared_from_this(),
                        &channel, why, now + kFirstRedial, kFirstRedial});
    endpoint_.scheduler().request_deferred_work();
}

nanoseconds Failover::check_awaited(Clock::time_point now) {
    nanoseconds next = nanoseconds::max();
    std::vector<Awaited> over;
    std::vector<Channel*> due;
    std::erase_if(awaited_, [&](Awaited& each) {
        if (out_of(*each.channel) != nullptr || each.channel->dead()) return true;
        if (each.until <= now) {
            over.push_back(std::move(each));
            return true;
        }
        if (each.next_dial <= now) {
            due.push_back(each.channel);
            each.pause *= 2;
            each.next_dial = now + each.pause;
        }
        next = std::min<nanoseconds>(next, std::min(each.until, each.next_dial) - now);
        return false;
    });
    for (Channel* channel : due) channel->reconnect();
    BreakFacts facts;
    facts.channel.waited = true;
    for (const Awaited& each : over)
        if (!each.channel->dead()) replace(*each.channel, facts, each.why);
    return next;
}

nanoseconds Failover::check_ended(Clock::time_point now) {
    nanoseconds next = nanoseconds::max();
    for (const Timed& each : std::exchange(ended_, {})) {
        if (each.when > now) {
            next = std::min<nanoseconds>(next, each.when - now);
            ended_.push_back(each);
            continue;
        }
        {
            Lock hold(each.peer->mutex);
            if (!each.peer->state.ended) continue; // it was heard since
        }
        for (Channel* channel : each.peer->all_channels())
            for (Link* link : channel->open_links()) end(*link, each.why);
    }
    return next;
}

// A process that is stopped, or whose handler does not end, answers no question, while its host still
// takes bytes for it.
nanoseconds Failover::check_silence(Clock::time_point now) {
    const nanoseconds limit = endpoint_.options().silence;
    if (limit.count() == 0) return nanoseconds::max();
    if (now < next_silence_) return next_silence_ - now;
    const nanoseconds pause = std::max<nanoseconds>(limit / 4, std::chrono::milliseconds(1));
    next_silence_ = now + pause;
    // Within a host a peer that hangs harms nobody, unless senders wait for its first word.
    const auto skips = [](Channel& channel) {
        return channel.interface().one_host() &&
               channel.on_outbox([](const Outbox& outbox) { return !outbox.held(); });
    };
    for (const auto& peer : endpoint_.peers()) {
        for (Channel* channel : peer->all_channels()) {
            Link* const out = skips(*channel) ? nullptr : out_of(*channel);
            if (out == nullptr || out->lost) continue;
            Liveness& heard = out->liveness;
            std::uint64_t total = 0; // the peer may send by another link of the channel
            for (const Link* link : channel->open_links())
                total += link->received.count() + link->liveness.signs;
            if (total != heard.seen) {
                heard.seen = total;
                heard.since = now;
                heard.asked = 0;
            } else if (now - heard.since < limit / 2) {
                continue;
            } else if (heard.asked < kAsked) {
                ++heard.asked;
                channel->on_outbox([](Outbox& outbox) { outbox.ask(); });
            } else if (now - heard.since >= limit) {
                end(*out,
                    fmt::format(
                        "nothing came for {} ms although the peer was asked: its process is stopped, or "
                        "a handler does not return (limits.silence)",
                        std::chrono::duration_cast<std::chrono::milliseconds>(now - heard.since).count()));
            }
        }
    }
    return pause;
}

bool Failover::in_use(Peer& peer) const {
    const std::vector<Channel*> channels = peer.all_channels();
    return peer.id == endpoint_.self() || endpoint_.listener().awaits(peer) ||
           std::any_of(channels.begin(), channels.end(),
                       [](const Channel* each) { return !each->condition().unused; });
}

// A server outlives many clients: of a peer without any link nothing stays but what others hold.
nanoseconds Failover::forget_idle(Clock::time_point now) {
    if (now < next_forget_) return idle_seen_ ? next_forget_ - now : nanoseconds::max();
    next_forget_ = now + kForgetLook;
    const auto peers = endpoint_.peers();
    const bool many = peers.size() > kMostIdlePeers;
    idle_seen_ = false;
    for (const auto& peer : peers) {
        Clock::time_point& since = peer->relation.idle_since;
        if (in_use(*peer)) {
            since = {};
            continue;
        }
        idle_seen_ = true;
        if (since == Clock::time_point{}) since = now;
        const bool listed = std::find(leaving_.begin(), leaving_.end(), peer) != leaving_.end();
        if (!listed && (many || now - since >= endpoint_.options().forget_after)) leaving_.push_back(peer);
    }
    return idle_seen_ ? kForgetLook : nanoseconds::max();
}

void Failover::return_to_module(Link& link) {
    acks_.forget(link);
    link.channel->release(link);
    const auto placements = std::move(link.placements);
    link.placements.clear();
    for (const auto& placement : placements)
        if (placement->finish != nullptr) placement->finish(placement->self, *placement, Status::link_lost);
}

void Failover::release_lost() {
    while (!lost_.empty()) { // a finished placement may lose more
        const std::vector<Link*> lost = std::exchange(lost_, {});
        for (Link* link : lost) {
            return_to_module(*link);
            const std::shared_ptr<Peer> peer = link->peer; // keeps the channel
            link->channel->take_out(link);
        }
    }
}

// What was delivered here is acknowledged before the goodbye, so that nobody takes it for lost.
// A peer takes nothing behind a goodbye, so what it carries to others goes first.
bool Failover::say_goodbyes(bool at_once) {
    said_goodbye_ = true;
    acks_.all();
    const auto peers = endpoint_.peers();
    std::vector<std::shared_ptr<Peer>> left;
    for (const auto& peer : peers)
        if (std::find(told_.begin(), told_.end(), peer->id) == told_.end()) left.push_back(peer);
    const auto is_left = [&](const ContextId& id) {
        return std::any_of(left.begin(), left.end(), [&](const auto& peer) { return peer->id == id; });
    };
    const auto carried = endpoint_.listener().carried_peers();
    std::vector<Peer*> due;
    for (const auto& peer : left)
        if (std::none_of(carried.begin(), carried.end(),
                         [&](const CarriedPeer& each) { return each.by == peer->id && is_left(each.peer); }))
            due.push_back(peer.get());
    if (at_once) due.clear();
    if (due.empty()) // each carries another of them
        for (const auto& peer : left) due.push_back(peer.get());
    for (Peer* peer : due) {
        told_.push_back(peer->id);
        for (Channel* channel : peer->all_channels())
            for (Link* link : channel->open_links())
                channel->on_outbox([&](Outbox& outbox) { outbox.control(*link, wire::encode_goodbye()); });
    }
    return due.size() == left.size();
}

} // namespace plexus::transport
