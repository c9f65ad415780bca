// SPDX-License-Identifier: BSD-3-Clause
#include "forward/hub.h"

#include "base/crypto.h"
#include "base/log.h"
#include "bootstrap/directory.h"
#include "config/settings.h"
#include "plexus/caller.h"

#include <algorithm>
#include <thread>

namespace plexus::forward {
namespace {

constexpr const char* kMethod = "forward";
/// A hop that found no room is tried again after so long at the latest: no event says when there is some.
constexpr auto kRetryHops = std::chrono::milliseconds(1);
/// A forwarder that was lost, or did not answer, is told of this context again after so long.
constexpr auto kRetryAttach = std::chrono::seconds(1);
constexpr auto kAskAgain = std::chrono::milliseconds(100);
/// One that says nothing keeps the others waiting for so long in each round.
constexpr std::chrono::nanoseconds kLongestAsk = std::chrono::seconds(2);

RankedMutex<15> hubs_mutex;
std::map<ContextId, Hub*>& hubs() PLEXUS_REQUIRES(hubs_mutex) {
    static auto& all = *new std::map<ContextId, Hub*>; // outlives contexts that end at exit
    return all;
}

std::optional<Destination> destination_in(wire::View bytes) {
    wire::In in(bytes);
    Destination to;
    const wire::View id = in.raw(to.context.bytes.size());
    to.instance = in.u8();
    if (!in.ok()) return {};
    std::copy(id.begin(), id.end(), reinterpret_cast<std::byte*>(to.context.bytes.data()));
    to.hello = in.rest();
    return to;
}

bool is_one_of(const std::vector<Via>& forwarders, const ContextId& context) {
    return std::any_of(forwarders.begin(), forwarders.end(),
                       [&](const Via& via) { return via.hub.context == context; });
}

bool has_links(const LinkEnds& ends, Neighbour& neighbour) {
    const auto first = ends.lower_bound({&neighbour, 0, false});
    return first != ends.end() && first->first.neighbour == &neighbour;
}

void cut(LinkEnds& ends, LinkEnds::iterator which, const std::string& why) {
    const LinkName name = which->first;
    HopEnd& end = *which->second;
    ends.erase(which);
    end.cut(name, fmt::format("{} {}", name.neighbour->text(), why));
}

void cut_all(LinkEnds& ends, Neighbour& neighbour) {
    for (;;) {
        const auto first = ends.lower_bound({&neighbour, 0, false});
        if (first == ends.end() || first->first.neighbour != &neighbour) return;
        cut(ends, first, "is lost");
    }
}

std::unique_ptr<Neighbour> make_neighbour(const Via& via, transport::Endpoint& endpoint) {
    GlobalPointer<Hub> there{
        via.hub, endpoint.way(endpoint.peer(via.hub.context), transport::KnownTable::make(via.table))};
    return std::make_unique<Neighbour>(std::move(there), via.url);
}

// Rows of the method that led through the former forwarder.
void lead_through(const Renewals::Answer& renewed, DescriptorTable& table) {
    for (std::size_t at = 0; at < table.size(); ++at) {
        Descriptor row = table[at];
        const auto before = means_row(kMethod, row.method) ? decode(row.bytes) : Result<Via>(Failure{});
        if (!before || before->hub.context != renewed.lost) continue;
        Via now = renewed.now;
        now.instance = before->instance;
        row.bytes = encode(std::move(now), wire::kLongestDescriptor);
        if (row.bytes.empty()) continue;
        table.erase(at);
        table.insert(at, std::move(row));
    }
}

} // namespace

Hub::Hub(request::Dispatcher& dispatcher, transport::Endpoint& endpoint, const bootstrap::Key& key,
         std::chrono::nanoseconds lookup_time)
  : dispatcher_(dispatcher)
  , endpoint_(endpoint)
  , key_(key)
  , renewals_(key_, endpoint.self())
  , lookup_time_(lookup_time) {
    Lock hold(hubs_mutex);
    hubs()[endpoint.self()] = this;
}

Hub::~Hub() {
    Lock hold(hubs_mutex);
    hubs().erase(endpoint_.self());
}

Hub* Hub::of(const ContextId& context) {
    Lock hold(hubs_mutex);
    const auto found = hubs().find(context);
    return found == hubs().end() ? nullptr : found->second;
}

// A forwarder may be started after those whom it serves: while none is there, all are asked again. Each has
// an equal share of the time that is left. The method is opened once, so the first round that finds one is
// the last.
Result<void> Hub::find_forwarders(const std::string& urls) {
    if (!forwarders_.empty()) return {}; // asked by another module of the method
    const auto deadline = Clock::now() + lookup_time_;
    const std::vector<std::string> asked = config::split_list(urls);
    std::string why;
    do {
        why.clear();
        auto left = static_cast<std::int64_t>(asked.size());
        for (const std::string& url : asked) {
            const auto now = Clock::now();
            auto via = ask_forwarder(
                url, key_, endpoint_.self(),
                now + std::min<std::chrono::nanoseconds>((deadline - now) / left--, kLongestAsk));
            if (via)
                forwarders_.push_back(std::move(*via));
            else
                why += fmt::format("{}no forwarder was found at {}: {}", why.empty() ? "" : "; ", url,
                                   via.failure().why);
        }
        if (!forwarders_.empty()) {
            if (!why.empty()) log::warn("forward", "{}; this context has no row by way of it", why);
            return {};
        }
        std::this_thread::sleep_for(kAskAgain);
    } while (Clock::now() < deadline);
    return fail(Status::bad_config, "method.forward.via: {}", why);
}

std::uint8_t Hub::add(Acceptor& module) {
    modules_.push_back(&module);
    return static_cast<std::uint8_t>(modules_.size() - 1);
}

void Hub::serve() {
    {
        Lock hold(hubs_mutex);
        hubs().erase(endpoint_.self()); // modules that are added later do not work over it
    }
    if (modules_.empty()) return; // the method is not in use here
    detail::Target target;
    while (target.key == 0) crypto::fill_random(&target.key, sizeof target.key);
    target = dispatcher_.server().objects().add(this, 0, detail::object_type<Hub>(), target.key);
    target.context = endpoint_.self();
    own_ = {target, endpoint_.way(endpoint_.peer(endpoint_.self()), endpoint_.own_table())};
    dispatcher_.server().handlers().install(
        kAttach.info(), detail::make_handler(kAttach, false, [](Hub& hub, const GlobalPointer<Hub>& from) {
            hub.take_attach(from);
        }));
    dispatcher_.server().handlers().install(
        kHop.info(), detail::make_handler(
                         kHop, false,
                         [](Hub& hub, std::uint8_t kind, std::uint32_t number, std::uint64_t value,
                            std::span<const std::byte> bytes) { hub.take_hop(kind, number, value, bytes); }));
    dispatcher_.observe(*this, kHop.info()); // links whose hops are lost end with a reason
    for (const Via& via : forwarders_) {
        neighbours_.try_emplace(via.hub.context, make_neighbour(via, endpoint_));
    }
}

void Hub::attach() {
    std::vector<std::pair<ContextId, Future<void>>> asked;
    for (const Via& via : forwarders_) {
        const Neighbour& there = *neighbours_.at(via.hub.context);
        asked.emplace_back(there.id(), there.pointer().with(deadline(lookup_time_)).call(kAttach, own_));
    }
    for (auto& [id, answer] : asked) {
        try {
            answer.get(); // makes progress: another may have taken the forwarder's place by then
            if (Neighbour* const there = find(id)) there->introduced = true;
        } catch (const Error& error) {
            log::warn("forward", "forwarder {} does not know how this context is reached: {}", short_text(id),
                      error.what());
            next_attach_ = Clock::now() + kRetryAttach;
        }
    }
}

Result<wire::Bytes> Hub::published() const {
    if (!own_)
        return fail(Status::bad_config,
                    "a context relays only if it has the method \"{}\" itself: see methods", kMethod);
    Via self;
    self.name = dispatcher_.name();
    self.hub = own_.target();
    self.table = own_.table();
    return encode(std::move(self), bootstrap::kLongestValue);
}

void Hub::close() {
    renewals_.stop();
    relays_.clear();
    ends_.clear();
    neighbours_.clear();
    own_ = {};
}

std::string Hub::text() const {
    Via self;
    self.name = dispatcher_.name();
    self.hub.context = endpoint_.self();
    return "forwarder " + self.text();
}

Neighbour* Hub::find(const ContextId& context) {
    const auto found = neighbours_.find(context);
    return found == neighbours_.end() ? nullptr : found->second.get();
}

Neighbour* Hub::reach(const Via& row, const ContextId& target) {
    take_renewed();
    const Via& via = renewals_.current(row, target);
    auto& slot = neighbours_[via.hub.context];
    if (slot == nullptr) slot = make_neighbour(via, endpoint_);
    if (slot->lost()) renewals_.ask(via.hub.context, via.url);
    revive(*slot);
    return slot->introduce(own_) ? slot.get() : nullptr;
}

// Windows bound the data that waits for a neighbour. One that makes this context say more, and takes nothing
// of it, is given up.
void Hub::say(const LinkName& to, const Hop& hop) {
    const bool is_data = hop.kind == Kind::data || hop.kind == Kind::more;
    if (!is_data && to.neighbour->waits() && to.neighbour->queued() > most_queued(rules.get()->memory)) {
        log::warn("forward", "{} asks for more than it takes, and is given up", to.neighbour->text());
        to.neighbour->mark_lost();
    }
    const std::uint8_t kind = static_cast<std::uint8_t>(hop.kind) | (to.mine ? 0 : kYours);
    to.neighbour->send(kind, to.number, hop);
    if (to.neighbour->waits() || to.neighbour->unsettled()) waits_.store(true, std::memory_order_relaxed);
}

void Hub::say_close(const LinkName& to, Status status, std::string_view why) {
    say(to, {Kind::close, static_cast<std::uint64_t>(status), std::as_bytes(std::span(why))});
}

void Hub::run() {
    if (!waits_ && next_attach_ == Clock::time_point::max()) return;
    if (waits_.load(std::memory_order_relaxed) && waits_.exchange(false, std::memory_order_relaxed))
        for (const auto& [id, each] : neighbours_) {
            if (!each->retry()) waits_ = true;
            if (each->unsettled()) lose(*each);
        }
    if (next_attach_ == Clock::time_point::max()) return;
    const auto now = Clock::now();
    if (now < next_attach_) return;
    next_attach_ = Clock::time_point::max();
    take_renewed();
    for (const auto& [id, each] : neighbours_)
        if (!each->introduced && (is_one_of(forwarders_, id) || has_links(ends_, *each))) {
            renewals_.ask(id, each->url());
            revive(*each);
            if (!each->introduce(own_)) next_attach_ = now + kRetryAttach;
        }
}

std::chrono::nanoseconds Hub::time_left() const {
    std::chrono::nanoseconds next = std::chrono::nanoseconds::max();
    if (waits_) next = kRetryHops;
    if (next_attach_ == Clock::time_point::max()) return next;
    return std::min<std::chrono::nanoseconds>(next, next_attach_ - Clock::now());
}

// Every link by that neighbour ends.
void Hub::lose(Neighbour& neighbour) {
    neighbour.mark_lost();
    neighbour.settle();
    renewals_.ask(neighbour.id(), neighbour.url());
    if (is_one_of(forwarders_, neighbour.id()))
        next_attach_ = std::min(next_attach_, Clock::now() + kRetryAttach);
    cut_all(ends_, neighbour);
}

// Another forwarder has taken the place of one that was lost: rows that name that one lead to it.
void Hub::take_renewed() {
    for (const Renewals::Answer& each : renewals_.take()) {
        const ContextId& fresh = each.now.hub.context;
        if (endpoint_.peer(each.lost)->presence() == transport::Presence::here) {
            renewals_.forget(each.lost); // the URL means another one here
            continue;
        }
        if (Neighbour* const former = find(each.lost)) {
            cut_all(ends_, *former);
            neighbours_.erase(each.lost);
        }
        log::info("forward", "{} relays now where {} did", each.now.text(), short_text(each.lost));
        if (!is_one_of(forwarders_, each.lost)) continue;
        for (Via& via : forwarders_)
            if (via.hub.context == each.lost) via = each.now;
        neighbours_.try_emplace(fresh, make_neighbour(each.now, endpoint_));
        next_attach_ = Clock::now();
        endpoint_.change_own_table([&](DescriptorTable& table) { lead_through(each, table); });
    }
}

// It is there again. What was said to it meanwhile is missing in its links: those end.
void Hub::revive(Neighbour& neighbour) {
    if (!neighbour.lost()) return;
    lose(neighbour);
    neighbour.try_again();
}

// While there was no link, it may have taken this context for lost, and have forgotten it.
void Hub::peer_arrived(const transport::Peer& peer) {
    renewals_.forget(peer.id);
    Neighbour* const neighbour = find(peer.id);
    if (neighbour == nullptr || !std::exchange(neighbour->introduced, false)) return;
    if (is_one_of(forwarders_, peer.id) || has_links(ends_, *neighbour)) next_attach_ = Clock::now();
}

// Its links end, also if it is still there: they miss what was lost.
void Hub::peer_lost(const transport::Peer& peer, bool gone) {
    Neighbour* const neighbour = find(peer.id);
    if (neighbour == nullptr) return;
    lose(*neighbour);
    if (gone && !is_one_of(forwarders_, peer.id))
        neighbours_.erase(peer.id); // it comes again with a pointer of its own
}

bool Hub::needs(const transport::Peer& peer) {
    if (is_one_of(forwarders_, peer.id)) return true;
    Neighbour* const neighbour = find(peer.id);
    return neighbour != nullptr && has_links(ends_, *neighbour);
}

std::vector<transport::CarriedPeer> Hub::carried_peers() {
    std::vector<transport::CarriedPeer> all;
    for (const auto& [name, end] : ends_)
        if (const ContextId* const far = end->far_end()) all.push_back({*far, name.neighbour->id()});
    return all;
}

// It is reached as it has come: two forwarders of one context would reach it through each other, for ever.
void Hub::take_attach(const GlobalPointer<Hub>& from) {
    const Caller by = caller();
    if (!from || from.context() != by.context)
        throw Error(Status::bad_argument, "a context attaches with a pointer of its own");
    GlobalPointer<Hub> back = from;
    if (!means_row(kMethod, by.method)) {
        DescriptorTable direct;
        for (const Descriptor& row : from.table())
            if (!means_row(kMethod, row.method)) direct.push_back(row);
        direct.prefer({by.method});
        back.set_table(std::move(direct));
    }
    auto& slot = neighbours_[from.context()];
    if (slot == nullptr) slot = std::make_unique<Neighbour>(back);
    revive(*slot);
    slot->found(back);
}

void Hub::take_hop(std::uint8_t kind, std::uint32_t number, std::uint64_t value, wire::View bytes) {
    Neighbour* const by = find(caller().context);
    if (by == nullptr) return; // it was lost here meanwhile
    const LinkName name{by, number, (kind & kYours) != 0};
    const Hop hop{static_cast<Kind>(kind & ~kYours), value, bytes};
    if (hop.kind == Kind::open) {
        if (name.mine) return;
        revive(*by);
        // Whoever opens takes a number anew only after it had forgotten this context, and the link.
        if (const auto former = ends_.find(name); former != ends_.end()) cut(ends_, former, "has begun anew");
        const auto to = destination_in(hop.bytes);
        if (!to || to->hello.size() > kMostRecord)
            return say_close(name, Status::bad_argument,
                             "a link was asked for in no form that is known here");
        if (to->context != endpoint_.self()) return relays_.open(name, hop, *to);
        if (to->instance >= modules_.size() || modules_[to->instance] == nullptr)
            return say_close(name, Status::no_method, "the context has no such module of the method");
        return modules_[to->instance]->accept(name, hop, *to);
    }
    const auto end = ends_.find(name);
    if (end == ends_.end()) { // it has ended here, which a neighbour that was lost has not been told
        if (hop.kind != Kind::close) say_close(name, Status::link_lost, "the link has ended here");
        return;
    }
    HopEnd& taker = *end->second;
    if (hop.kind == Kind::close) ends_.erase(end);
    taker.take(name, hop);
}

} // namespace plexus::forward
