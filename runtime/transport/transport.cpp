// SPDX-License-Identifier: BSD-3-Clause
#include "transport/transport.h"

#include "transport/datagrams.h"
#include "transport/route.h"

#include <algorithm>
#include <exception>

namespace plexus::transport {

using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kDrainLook = std::chrono::milliseconds(1);
/// For the leader to say goodbyes, however late it is.
constexpr auto kGoodbyes = std::chrono::milliseconds(50);

bool is_drained(Channel& channel, bool no_new_links) {
    const Channel::Condition now = channel.condition();
    // Without a link, and without one to come, nothing will change.
    if (now.over || (now.idle && no_new_links)) return true;
    return channel.on_outbox([](Outbox& outbox) { return outbox.drained(); });
}

} // namespace

Transport::Transport(const ContextId& self, EndpointOptions options, poll::Scheduler& scheduler,
                     Listener& listener)
  : scheduler_(scheduler)
  , endpoint_(self, std::move(options), scheduler, listener)
  , acks_(scheduler)
  , failover_(endpoint_, acks_)
  , demux_(endpoint_, acks_, failover_) {
    scheduler_.set_deferred_work([this] { return run(); });
}

Transport::~Transport() = default;

Result<const Interface*> Transport::open(const loader::Module& module, const config::Settings& settings,
                                         const loader::Modules& modules) {
    if (endpoint_.interfaces().size() == Endpoint::kMostMethods)
        return fail(Status::too_large, "method {} can't be opened: there are {} methods, which is the most",
                    module.name, Endpoint::kMostMethods);
    auto opened = Interface::open(module, {&endpoint_, &demux_, &failover_, &modules, &settings});
    if (!opened) return opened.failure();
    std::unique_ptr<Interface> interface = std::move(*opened);
    poll::LaneSource lane;
    lane.name = module.name;
    lane.ops = &interface->ops;
    lane.module = interface->instance;
    lane.sleeps = (interface->ops.caps & PLEXUS_CAP_SLEEP) != 0;
    lane.blocking = settings.boolean("method." + module.name + ".blocking");
    lane.skip_poll = settings.skip_poll("method." + module.name + ".skip_poll");
    try {
        interface->lane = scheduler_.place(lane);
    } catch (const std::exception& error) { // a thread that the system does not give
        interface->end();
        return fail(Status::runtime_lost, "method {} can't be polled: {}", module.name, error.what());
    }
    const Interface* const made = interface.get();
    endpoint_.add(std::move(interface));
    scheduler_.begin(); // what its polls bring finds the method
    return made;
}

std::chrono::nanoseconds Transport::run() {
    const auto next = std::min(failover_.run(), endpoint_.listener().deferred_work());
    if (goodbye_wanted_.load(std::memory_order_acquire)) { // pairs with [goodbye]
        all_told_ = failover_.say_goodbyes(at_once_);
        goodbye_wanted_.store(false, std::memory_order_release); // [goodbye]
    }
    return std::min(next, acks_.run());
}

void Transport::close(Clock::time_point deadline) {
    endpoint_.enter(Endpoint::Phase::closing);
    const auto peers = endpoint_.peers(); // holds the channels: the leader forgets peers that go
    std::vector<Channel*> channels;
    for (const auto& peer : peers)
        for (Channel* channel : peer->all_channels()) channels.push_back(channel);
    bool said_goodbye = false;
    const auto drained = [&] {
        return std::all_of(channels.begin(), channels.end(),
                           [&](Channel* channel) { return is_drained(*channel, said_goodbye); });
    };
    // What the kernel still holds empties without an event: look again by the clock.
    const auto drain = [&] {
        for (Channel* channel : channels)
            channel->on_outbox([](Outbox& outbox) {
                if (outbox.frames().window().unacked()) outbox.ask();
            });
        while (!scheduler_.wait_for_true(drained, std::min(deadline, Clock::now() + kDrainLook)))
            if (Clock::now() >= deadline) break;
    };
    drain();
    // What a peer carries for others has to reach it, the goodbyes to those among it, before its own goodbye.
    for (bool all = false; !all; drain()) {
        at_once_ = Clock::now() >= deadline;
        goodbye_wanted_.store(true, std::memory_order_release); // [goodbye]
        scheduler_.request_deferred_work();
        const auto told = [&] { return !goodbye_wanted_.load(std::memory_order_acquire); };
        if (!scheduler_.wait_for_true(told, std::max(deadline, Clock::now() + kGoodbyes))) return;
        said_goodbye = true;
        all = all_told_;
    }
}

void Transport::destroy() {
    for (const auto& interface : endpoint_.interfaces()) interface->ops.close(interface->instance);
    endpoint_.regions().remove_all();
    for (const auto& interface : endpoint_.interfaces()) interface->ops.drain(interface->instance);
    for (const auto& peer : endpoint_.peers()) {
        std::map<std::uint64_t, std::shared_ptr<detail::Route>> ways; // end outside of the lock
        {
            Lock hold(peer->mutex);
            ways.swap(peer->ways);
        }
        failover_.abandon_all(*peer);
        endpoint_.listener().peer_lost(*peer, Status::closed, "this context was closed");
    }
    for (const auto& interface : endpoint_.interfaces())
        if (interface->datagrams != nullptr) interface->datagrams->abandon();
    endpoint_.enter(Endpoint::Phase::closed);
    for (const auto& interface : endpoint_.interfaces()) interface->ops.destroy(interface->instance);
    failover_.clear();
    for (const auto& peer : endpoint_.peers())
        for (Channel* channel : peer->all_channels()) channel->take_out(nullptr);
    endpoint_.forget_all();
}

} // namespace plexus::transport
