// SPDX-License-Identifier: BSD-3-Clause
#include "player.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace s4u = simgrid::s4u;

namespace {

constexpr double kLeastSleepS = 1e-9; ///< SimGrid's precision

void sleep_until(double time_s) {
    if (time_s > s4u::Engine::get_clock() + kLeastSleepS) s4u::this_actor::sleep_until(time_s);
}

/// SimGrid has no message of 0 B: an empty one has a byte.
std::uint64_t simulated_bytes(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, 1); }

/// One for each message. They live as long as the simulation, so programs share them.
std::vector<s4u::Mailbox*>& mailboxes() {
    static std::vector<s4u::Mailbox*> known;
    return known;
}

/// Before there are members: other actors run while SimGrid makes a mailbox.
void make_mailboxes(std::size_t count) {
    while (mailboxes().size() < count)
        mailboxes().push_back(s4u::Mailbox::by_name("m" + std::to_string(mailboxes().size())));
}

/// A processor is busy with each message that it sends or takes in.
void overhead() { s4u::this_actor::sleep_for(kOverheadS); }

/// A message's payload is not null.
void* payload() {
    static int content = 0;
    return &content;
}

/// What the links had before take_over_latencies().
std::unordered_map<const s4u::Link*, double>& taken_latencies() {
    static std::unordered_map<const s4u::Link*, double> taken;
    return taken;
}

double taken_latency_s(const s4u::Host* from, const s4u::Host* to) {
    std::vector<s4u::Link*> links;
    double none = 0;
    from->route_to(to, links, &none);
    double out = 0;
    for (const s4u::Link* link : links) out += taken_latencies().at(link);
    return out;
}

/// Messages to the same receiver, one behind the other.
class Connections {
  public:
    explicit Connections(const Program& program)
      : program_(program) {}

    /// Returns at once.
    void submit(std::uint32_t place, s4u::Host* from, const s4u::Host* to) {
        const Program::Message& message = program_.messages[place];
        Connection& connection = connections_[{message.from, message.to}];
        if (connection.latency_s < 0) connection.latency_s = taken_latency_s(from, to);
        connection.queue.push_back({place, s4u::Engine::get_clock() + connection.latency_s});
        if (connection.queue.size() == 1)
            s4u::Actor::create("connection", from, [this, &connection] { empty(connection.queue); });
    }

  private:
    struct Queued {
        std::uint32_t message;
        double ready_s; ///< when its first byte arrives if nothing is before it
    };
    struct Connection {
        double latency_s = -1; ///< not known yet
        std::deque<Queued> queue;
    };

    void empty(std::deque<Queued>& queue) const {
        while (!queue.empty()) {
            const auto [message, ready_s] = queue.front();
            sleep_until(ready_s);
            mailboxes()[message]->put(payload(), simulated_bytes(program_.messages[message].bytes));
            queue.pop_front();
        }
    }

    const Program& program_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Connection> connections_;
};

class Member {
  public:
    Member(const std::vector<s4u::Host*>& hosts, const Program& program, std::uint32_t place)
      : hosts_(hosts)
      , program_(program)
      , steps_(program.steps[place]) {}

    void operator()(Sending sending, Connections& connections) const {
        std::vector<s4u::CommPtr> receives(steps_.size());
        std::vector<void*> contents(steps_.size());
        for (std::size_t at = 0; at < steps_.size(); ++at)
            if (!steps_[at].send) receives[at] = mailboxes()[steps_[at].message]->get_async(&contents[at]);
        for (std::size_t at = 0; at < steps_.size(); ++at) {
            const std::uint32_t place = steps_[at].message;
            const Program::Message& message = program_.messages[place];
            if (!steps_[at].send) {
                receives[at]->wait();
                if (sending == Sending::in_turn)
                    sleep_until(receives[at]->get_finish_time() +
                                taken_latency_s(hosts_[message.from], hosts_[message.to]));
                overhead();
                continue;
            }
            overhead();
            if (sending != Sending::at_once)
                mailboxes()[place]->put(payload(), simulated_bytes(message.bytes));
            else
                connections.submit(place, hosts_[message.from], hosts_[message.to]);
        }
    }

  private:
    const std::vector<s4u::Host*>& hosts_;
    const Program& program_;
    const std::vector<Program::Step>& steps_;
};

} // namespace

std::string_view to_string(Sending sending) noexcept {
    switch (sending) {
    case Sending::at_once:
        return "at_once";
    case Sending::in_turn:
        return "in_turn";
    case Sending::arrived:
        break;
    }
    return "arrived";
}

void Program::add(const Message& message) {
    const auto place = static_cast<std::uint32_t>(messages.size());
    messages.push_back(message);
    steps[message.from].push_back({place, true});
    steps[message.to].push_back({place, false});
}

void take_over_latencies() {
    for (s4u::Link* link : s4u::Engine::get_instance()->get_all_links()) {
        taken_latencies()[link] = link->get_latency();
        link->set_latency(0);
    }
}

double play(const std::vector<s4u::Host*>& hosts, const Program& program, Sending sending) {
    const double begin = s4u::Engine::get_clock();
    make_mailboxes(program.messages.size());
    Connections connections(program);
    std::vector<s4u::ActorPtr> actors;
    for (std::uint32_t place = 0; place < hosts.size(); ++place)
        if (!program.steps[place].empty())
            actors.push_back(s4u::Actor::create("member", hosts[place], [&, place, sending] {
                Member(hosts, program, place)(sending, connections);
            }));
    for (const s4u::ActorPtr& actor : actors) actor->join();
    const double seconds = s4u::Engine::get_clock() - begin;
    // The last connections end with this instant.
    s4u::this_actor::sleep_for(1);
    return seconds;
}
