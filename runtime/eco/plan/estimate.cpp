// SPDX-License-Identifier: BSD-3-Clause
// A plan run by a clock of its own: members, wires and connections take their times, and what
// happens first is looked at first.
#include "plan/estimate.h"

#include "plan/port.h"
#include "plan/run.h"
#include "topology/refuse.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace plexus::eco {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// What a connection that was idle sends at once, ten segments (RFC 6928); twice as much after
/// each round trip (RFC 5681, section 3.1).
constexpr double kFirstWindow = 10 * 1448;

bool is_long(double latency_us, double us_per_byte) { return kFirstWindow * us_per_byte < 2 * latency_us; }

/// From the first byte's leaving until that of the last of `bytes`, over a connection that was idle.
double pushed_after_us(double bytes, double latency_us, double us_per_byte) {
    double window = kFirstWindow;
    double time = 0;
    for (; bytes > window && window * us_per_byte < 2 * latency_us; window *= 2) {
        time += 2 * latency_us;
        bytes -= window;
    }
    return time + bytes * us_per_byte;
}

class Simulation {
  public:
    Simulation(const Plan& plan, const Ways& ways, Connections connections)
      : plan_(plan)
      , ways_(ways)
      , connections_(connections)
      , members_(plan.members)
      , flights_(plan.messages.size())
      , port_until_us_(plan.messages.size())
      , free_(ways.wires.count())
      , queues_(ways.wires.count())
      , behind_(ways.wires.count() > 0 ? plan.messages.size() : 0)
      , port_(plan.members)
      , even_(std::all_of(plan.block_elements.begin(), plan.block_elements.end(),
                          [&](std::uint64_t each) { return each == plan.block_elements.front(); })) {}

    /// Until every member came to its end, or one is known to come to it at `limit` or later. Empty, or who
    /// waits for whom for ever.
    std::string run(double limit) {
        for (Rank member = 0; member < plan_.members; ++member) proceed(member);
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            if (event.what < plan_.members) {
                if (event.at >= limit) return {};
                proceed(event.what);
            } else {
                let_in(event.what - plan_.members, event.at);
            }
        }
        for (Rank member = 0; member < plan_.members; ++member)
            if (members_[member].next < plan_.steps[member].size()) return who_waits();
        return {};
    }

    double end_us() const {
        double end = 0;
        for (const Progress& each : members_) end = std::max(end, each.now);
        return end;
    }
    std::vector<Flight> flights() && { return std::move(flights_); }

  private:
    struct Progress {                // of a member
        std::size_t next = 0;        // step
        std::size_t sends_until = 0; // the step behind the sends that have begun together
        double now = 0;
        double started_us = -1; // of a paced plan; below 0: not yet
        double drained = 0;
    };
    struct Event {
        double at;
        std::uint64_t number; // first come, first served
        std::uint32_t what;   // a member that goes on, or behind them a wire that is free
        bool operator<(const Event& other) const { // a heap's top is its largest
            return at != other.at ? at > other.at : number > other.number;
        }
    };
    struct Queue { // of messages for a wire
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };
    struct Stream { // what one member sends another
        double began_us = 0;
        double bytes = 0;
    };

    void at(double time, std::uint32_t what) { events_.push({time, number_++, what}); }

    void proceed(Rank member) {
        const std::vector<Step>& steps = plan_.steps[member];
        Progress& progress = members_[member];
        const double now = progress.now;
        for (std::size_t& next = progress.next; next < steps.size();) {
            const std::uint32_t number = steps[next].message;
            note_start(member, number);
            if (steps[next].send) {
                if (const double due = due_us(member, number); due > now) {
                    progress.now = due;
                    return at(due, member);
                }
                if (next >= progress.sends_until) share_port(member);
                if (!try_to_start(number, now)) return; // let_in() will
                return at(progress.now, member);
            }
            Flight& flight = flights_[number];
            if (flight.taken_us == 0) { // not sent yet: who sends it wakes the member
                flight.taken_us = -1;
                return;
            }
            ++next;
            flight.taken_us = progress.now = std::max(now, flight.taken_us);
            if (progress.now > now) return at(progress.now, member);
        }
    }

    /// A member begins to send all that it has to send before it waits, and goes on to the next message
    /// before the one before has left: notes until when these messages share its port. Small ones leave one
    /// by one.
    void share_port(Rank member) {
        Progress& progress = members_[member];
        const std::vector<Step>& steps = plan_.steps[member];
        std::size_t end = progress.next;
        while (end < steps.size() && steps[end].send) ++end;
        progress.sends_until = end;
        if (is_paced() || end == progress.next + 1) return;
        bool is_large = false;
        for (std::size_t at = progress.next; at < end; ++at) {
            const Message& message = plan_.messages[steps[at].message];
            if (ways_.network.same_host(message.from, message.to)) continue;
            const double us_per_byte = ways_.network.us_per_byte(message.from, message.to);
            const auto bytes = static_cast<double>(bytes_of(message));
            is_large = is_large || bytes > kFirstWindow;
            port_.add(message.to, bytes * us_per_byte, kFirstWindow * us_per_byte);
        }
        const std::vector<double>& left = port_.left_us();
        if (!is_large) return;
        std::size_t place = 0;
        for (std::size_t at = progress.next; at < end; ++at) {
            const Message& message = plan_.messages[steps[at].message];
            if (ways_.network.same_host(message.from, message.to)) continue;
            port_until_us_[steps[at].message] = progress.now + left[place++];
        }
    }

    /// A member of a paced plan is at this message.
    void note_start(Rank member, std::uint32_t number) {
        Progress& progress = members_[member];
        if (is_paced() && number >= plan_.start_messages && progress.started_us < 0)
            progress.started_us = progress.now;
    }

    /// Until when its sender holds a message back.
    double due_us(Rank member, std::uint32_t number) const {
        if (!is_paced() || number < plan_.start_messages) return 0;
        return members_[member].started_us + static_cast<double>(plan_.hold_ns[number]) * 1e-3;
    }

    bool is_paced() const { return !plan_.hold_ns.empty(); }

    /// False: it stands in the queue of a wire that is busy.
    bool try_to_start(std::uint32_t number, double now) {
        const Message& message = plan_.messages[number];
        std::uint32_t busy = kNone;
        ways_.wires.between(message.from, message.to, [&](std::uint32_t wire, double) {
            if (busy == kNone && free_[wire] > now) busy = wire;
        });
        if (busy != kNone) {
            Queue& queue = queues_[busy];
            behind_[number] = kNone;
            if (queue.first == kNone) {
                queue.first = number;
                at(free_[busy], plan_.members + busy);
            } else {
                behind_[queue.last] = number;
            }
            queue.last = number;
            return false;
        }
        start(number, message, now);
        return true;
    }

    void start(std::uint32_t number, const Message& message, double now) {
        const auto bytes = static_cast<double>(bytes_of(message));
        const Link link =
            link_between(ways_.network, message.from, message.to, bytes, ways_.least_us[message.from]);
        ways_.wires.between(message.from, message.to, [&](std::uint32_t wire, double us_per_byte) {
            free_[wire] = now + us_per_byte * bytes;
        });
        Flight& flight = flights_[number];
        Progress& sender = members_[message.from];
        Progress& receiver = members_[message.to];
        const double shared_us = port_until_us_[number] + link.arrives_us - link.drain_us;
        receiver.drained = std::max({receiver.drained + link.drain_us, now + link.arrives_us,
                                     through_window_us(message, bytes, link, now)});
        const bool awaited = flight.taken_us < 0;
        // What shares its sender's port comes later, and what others send to the receiver comes meanwhile.
        flight = {now, now + link.busy_us, std::max(receiver.drained, shared_us)};
        sender.now = flight.free_us;
        ++sender.next;
        // The same number for "nothing yet" as for a message that took no time at all.
        if (flight.taken_us == 0) flight.taken_us = kInstant;
        if (awaited) {
            receiver.now = std::max(receiver.now, flight.taken_us);
            at(receiver.now, message.to);
        }
    }

    /// Of blocks of one size without looking at each: there may be millions.
    std::uint64_t bytes_of(const Message& message) const {
        if (!even_) return plan_.bytes_of(message);
        std::uint64_t blocks = 0;
        for (const BlockRange& range : plan_.blocks_of(message)) blocks += range.count;
        return blocks == 0 ? 0 : blocks * plan_.block_elements.front() * plan_.element_bytes;
    }

    /// When all of it is there at the earliest, by the window of its connection.
    double through_window_us(const Message& message, double bytes, const Link& link, double now) {
        const double us_per_byte = ways_.network.us_per_byte(message.from, message.to);
        const double latency = ways_.network.latency_us(message.from, message.to);
        if (connections_ == Connections::open || bytes == 0 || !is_long(latency, us_per_byte) ||
            link.arrives_us == 0)
            return 0;
        auto& [began, sent] =
            streams_.try_emplace(std::uint64_t{message.from} << 32 | message.to, Stream{now, 0})
                .first->second;
        sent += bytes;
        return began + latency + pushed_after_us(sent, latency, us_per_byte);
    }

    /// The wire may be free: who has waited for it longest, and can, gets it.
    void let_in(std::uint32_t wire, double now) {
        Queue& queue = queues_[wire];
        while (queue.first != kNone) {
            if (free_[wire] > now) return at(free_[wire], plan_.members + wire);
            const std::uint32_t number = queue.first;
            queue.first = behind_[number];
            if (!try_to_start(number, now)) continue; // now behind another wire
            const Rank from = plan_.messages[number].from;
            at(members_[from].now, from);
        }
    }

    std::string who_waits() const {
        const auto nothing = [](std::uint32_t) { return true; };
        return eco::run(plan_, nothing, nothing);
    }

    static constexpr double kInstant = 1e-9;

    const Plan& plan_;
    const Ways& ways_;
    const Connections connections_;
    std::vector<Progress> members_;
    std::vector<Flight> flights_;       // before a message is sent, taken_us is 0, or -1 if it is awaited
    std::vector<double> port_until_us_; // of each message: its sender's port is done with it; 0: not shared
    std::vector<double> free_;          // of each wire: from when on
    std::vector<Queue> queues_;
    std::vector<std::uint32_t> behind_; // of each message in a queue
    Port port_;
    const bool even_; // all blocks have one size
    std::unordered_map<std::uint64_t, Stream> streams_;
    std::priority_queue<Event> events_;
    std::uint64_t number_ = 0;
};

void check(const Plan& plan, const Network& network) {
    if (plan.members != network.size())
        refuse(Status::bad_argument, "a plan of {} members, and a network of {}", plan.members,
               network.size());
    if (const std::string bad = misshapen(plan); !bad.empty())
        refuse(Status::bad_argument, "the plan cannot be run: {}", bad);
}

Simulation ended(const Plan& plan, const Ways& ways, Connections connections, double limit) {
    Simulation simulation(plan, ways, connections);
    if (const std::string stuck = simulation.run(limit); !stuck.empty())
        refuse(Status::bad_argument, "the plan does not end: {}", stuck);
    return simulation;
}

} // namespace

bool has_long_way(const Network& network) {
    for (Rank a = 0; a < network.size(); ++a)
        for (Rank b = 0; b < network.size(); ++b)
            if (a != b && is_long(network.latency_us(a, b), network.us_per_byte(a, b))) return true;
    return false;
}

double open_us(const Plan& plan, const Ways& ways, double limit_us) {
    return ended(plan, ways, Connections::open, limit_us).end_us();
}

double expected_us(const Plan& plan, const Ways& ways, double limit_us) {
    const double open =
        open_us(plan, ways, limit_us); // first: it is taken to be the lesser one, and the limit may end it
    if (open >= limit_us) return kNever;
    if (!ways.are_long) return open;
    const double rest_us = 2 * limit_us - open;
    const double idle_us = ended(plan, ways, Connections::idle, rest_us).end_us();
    return idle_us < rest_us ? (open + idle_us) / 2 : kNever;
}

double estimate_us(const Plan& plan, const Network& network, Connections connections) {
    check(plan, network);
    return ended(plan, Ways(network), connections, kNever).end_us();
}

std::vector<Flight> timeline(const Plan& plan, const Network& network) {
    check(plan, network);
    return ended(plan, Ways(network), Connections::idle, kNever).flights();
}

} // namespace plexus::eco
