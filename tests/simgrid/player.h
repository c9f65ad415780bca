// SPDX-License-Identifier: BSD-3-Clause
// Carries out a program of sends and receives on simulated hosts, one actor for each. Knows nothing of plans,
// models or schedules. Called from an actor.
#pragma once

#include <simgrid/s4u.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

/// Of each message at both ends. SimGrid has no time of its own for that.
inline constexpr double kOverheadS = 5e-6;

/// When a sender goes on to its next step.
enum class Sending : std::uint8_t {
    at_once, ///< as the runtime: messages to one receiver follow each other, those to several share the port
    in_turn, ///< when the message has left its port
    arrived, ///< when the message is at its receiver, as of MPI_Ssend
};

std::string_view to_string(Sending sending) noexcept;

struct Program {
    struct Message {
        std::uint32_t from; ///< places in the list of hosts
        std::uint32_t to;
        std::uint64_t bytes;
    };
    struct Step {
        std::uint32_t message;
        bool send;
    };
    std::vector<Message> messages;
    std::vector<std::vector<Step>> steps; ///< of each host

    /// Adds the next step of both ends.
    void add(const Message& message);
};

/// SimGrid lets a message wait for the latency and then take bandwidth. Messages that follow each other on
/// one connection wait for the latency together. So while senders go on at once, the links of the simulation
/// have no latency, and connections wait for it.
void take_over_latencies();

/// All hosts begin at once. Receives are posted beforehand. Returns the simulated seconds until the last host
/// has ended. @owner `hosts` and `program` stay for the call
double play(const std::vector<simgrid::s4u::Host*>& hosts, const Program& program, Sending sending);
