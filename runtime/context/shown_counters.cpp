// SPDX-License-Identifier: BSD-3-Clause
#include "context/shown_counters.h"

#include "base/clock.h"
#include "context/core.h"
#include "transport/channel.h"

#include <cerrno>
#include <fmt/format.h>
#include <iterator>
#include <unistd.h>

namespace plexus::detail {
namespace {

using counters::ColumnSpec;
using counters::Sample;
using transport::BothWays;
using transport::Channel;

constexpr auto kText = CounterKind::text;
constexpr auto kGauge = CounterKind::gauge;
constexpr auto kCount = CounterKind::count;

constexpr ColumnSpec kContextColumns[]{
    {"peers", kGauge, "Other contexts that the context remembers"},
    {"lost_peers", kGauge, "Remembered contexts that no method reaches"},
    {"waiting_requests", kGauge, "Requests that were received and wait for room"},
};
constexpr ColumnSpec kMethodColumns[]{
    {"method", kText, "The method", 4},
    {"links", kGauge, "Open connections by the method"},
    {"sent_messages", kCount, "Messages sent by the method"},
    {"sent_bytes", kCount, "Bytes of the messages sent by the method"},
    {"received_messages", kCount, "Messages received by the method"},
    {"received_bytes", kCount, "Bytes of the messages received by the method"},
    {"repairs", kCount, "Attempts to make a broken connection of the method anew"},
    {"fallbacks", kCount, "Times that it took over from one that failed, and unreliable requests it carried"},
    {"refusals", kCount, "Connections refused, over a boundary or a broken rule, and messages of strangers"},
    {"lost_links", kCount, "Open connections of the method that broke before either side had closed"},
    {"dropped", kCount, "Requests marked unreliable that this context dropped"},
    {"polls", kCount, "Polls of the method"},
    {"hits", kCount, "Polls of the method that found work"},
    {"poll_cost_seconds", kGauge, "Time of a poll that finds nothing", 1, 1'000'000'000'000},
    {"skip_poll", kGauge, "The method is polled in every so many turns of the poll loop"},
    {"automatic", kGauge, "1: skip_poll follows the traffic of the method"},
    {"shared_bytes", kGauge, "Memory that the method shares with other processes"},
};
constexpr ColumnSpec kPeerColumns[]{
    {"peer", kText, "The other context", 4},
    {"peer_name", kText, "The key name of the other context, once it has sent a request", 8},
    {"method", kText, "A way to the other context", 4},
    {"in_use", kGauge, "1: messages to the peer can leave by this method now"},
    {"links", kGauge, "Open connections with the peer by the method"},
    {"sent_messages", kCount, "Messages sent to the peer by the method"},
    {"sent_bytes", kCount, "Bytes of the messages sent to the peer by the method"},
    {"received_messages", kCount, "Messages received from the peer by the method"},
    {"received_bytes", kCount, "Bytes of the messages received from the peer by the method"},
    {"queued_messages", kGauge, "Messages that wait to be sent to the peer"},
    {"held_bytes", kGauge, "Memory of messages that wait, or that the peer has not confirmed"},
};
constexpr ColumnSpec kGroupColumns[]{
    {"group", kText, "The group, by the same name in all members", 2},
    {"rank", kGauge, "The rank of this member"},
    {"members", kGauge, "Members of the group"},
    {"broken", kGauge,
     "1: a call of it has failed, or a member has closed, so no call can end well any more"},
    {"under_way", kGauge, "Collective calls that have begun here and have not ended"},
    {"message_calls", kCount,
     "Collective calls by messages that have begun here, those that set the group up too"},
    {"memory_calls", kCount, "Those through memory that all members share"},
    {"hierarchical_calls", kCount, "Those through memory inside hosts and by messages between"},
    {"multicast_calls", kCount, "Those by IP multicast"},
    {"call_bytes", kCount,
     "Bytes of one member's block, all calls added up; v forms may count none; not traffic"},
    {"refinements", kCount, "Times the group's map was changed after measuring calls"},
};
enum TableIndex : std::size_t { kContextTable, kMethodTable, kGroupTable, kPeerTable };
/// In a job of thousands a reader sees the first, and how many are missing.
constexpr std::size_t kMostMethods = 32;
constexpr std::size_t kMostWays = 2048;
constexpr std::size_t kMostGroups = 128;
/// Readers on other hosts get all words up to the last that is not zero: the largest table is the last.
constexpr counters::TableSpec kTables[]{
    {"context", "The context as a whole", kContextColumns, 1},
    {"method", "What went by each method since the start, and how it is polled", kMethodColumns,
     kMostMethods},
    {"group", "The groups of collective operations that the context is a member of", kGroupColumns,
     kMostGroups},
    {"peer", "What went to and from each peer by each method", kPeerColumns, kMostWays},
};

// What the far side has chosen to send by is its own.
void put_way(Sample& sample, const std::string& peer, Channel& way, const BothWays& went) {
    struct Out {
        bool open = false;
        std::uint64_t queued = 0;
        std::uint64_t held = 0;
    };
    const Out out = way.on_outbox([](transport::Outbox& outbox) {
        return Out{outbox.out() != nullptr && !outbox.out()->lost, outbox.frames().window().unsent(),
                   outbox.frames().held()};
    });
    sample.put(peer).put(way.peer().name()).put(way.row_name());
    sample.put(out.open ? 1 : 0).put(way.open_links().size());
    sample.put(went.sent.messages).put(went.sent.bytes).put(went.received.messages).put(went.received.bytes);
    sample.put(out.queued).put(out.held);
}

void put_method(Sample& sample, const transport::Interface& method, const poll::Lane& lane,
                const BothWays& went) {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    sample.put(method.name).put(method.query(nullptr, PLEXUS_QUERY_LINKS));
    sample.put(went.sent.messages).put(went.sent.bytes).put(went.received.messages).put(went.received.bytes);
    sample.put(method.counts.repairs.load(kRelaxed))
        .put(method.counts.fallbacks.load(kRelaxed))
        .put(method.counts.refusals.load(kRelaxed) + method.query(nullptr, PLEXUS_QUERY_REFUSED))
        .put(method.counts.losses.load(kRelaxed))
        .put(method.counts.dropped.load(kRelaxed) + method.query(nullptr, PLEXUS_QUERY_DROPPED));
    const double picoseconds = lane.cost_ticks.load(kRelaxed) * nanoseconds_per_tick() * 1000;
    sample.put(lane.polls.load(kRelaxed))
        .put(lane.hits.load(kRelaxed))
        .put(static_cast<std::uint64_t>(picoseconds))
        .put(lane.turns.load(kRelaxed))
        .put(lane.automatic.load(kRelaxed) ? 1 : 0);
    sample.put(method.query(nullptr, PLEXUS_QUERY_SHARED_BYTES));
}

void put_group(Sample& sample, const ShownGroup& group) {
    sample.put(fmt::format("{:016x}", group.id)).put(group.rank).put(group.members);
    sample.put(group.broken ? 1 : 0).put(group.under_way);
    sample.put(group.calls.by_messages)
        .put(group.calls.in_memory)
        .put(group.calls.hierarchical)
        .put(group.calls.by_multicast);
    sample.put(group.bytes).put(group.refinements);
}

void sample_all(Core& core, Sample& sample) {
    const transport::Endpoint& here = core.endpoint();
    const auto& methods = here.interfaces();
    std::vector<BothWays> went(methods.size());
    const auto peers = here.peers(); // held to the end: of a peer that is forgotten, the counts are kept
    std::uint64_t others = 0;
    std::uint64_t lost = 0;
    sample.begin(kPeerTable);
    for (const auto& peer : peers) {
        if (peer->id != core.id()) ++others;
        if (peer->presence() == transport::Presence::lost) ++lost;
        const std::string id = to_string(peer->id);
        for (Channel* way : peer->all_channels()) {
            const BothWays by_it = way->traffic();
            for (std::size_t i = 0; i < methods.size(); ++i)
                if (methods[i].get() == &way->interface()) went[i] += by_it;
            if (sample.add_row()) put_way(sample, id, *way, by_it);
        }
    }
    sample.begin(kMethodTable);
    for (std::size_t i = 0; i < methods.size(); ++i)
        if (sample.add_row())
            put_method(sample, *methods[i], core.scheduler().lanes()[methods[i]->lane],
                       went[i] += methods[i]->counts.kept());
    sample.begin(kContextTable);
    if (sample.add_row()) sample.put(others).put(lost).put(core.dispatcher().server().parked());
    sample.begin(kGroupTable);
    core.shown_groups().ask([&](const ShownGroup& group) {
        if (sample.add_row()) put_group(sample, group);
    });
}

} // namespace

Result<std::unique_ptr<counters::Publisher>> show_counters(Core& core) {
    ContextLabel label;
    label.id = core.id();
    label.process = ::getpid();
    label.program = ::program_invocation_short_name;
    label.name = core.settings().text("name");
    label.job = core.job().id;
    label.rank = core.job().rank;
    label.size = core.job().size;
    label.started = std::chrono::system_clock::now();
    return counters::Publisher::start(label, kTables, [&core](Sample& sample) { sample_all(core, sample); });
}

} // namespace plexus::detail
