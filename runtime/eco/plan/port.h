// SPDX-License-Identifier: BSD-3-Clause
// The port of a member that sends to several receivers at once: their connections share it. Pure; one thread.
//
// It knows the messages of one run of sends, which the member begins without a wait in between. What their
// connections send at once leaves in order, so only earlier messages delay later ones. The rest of the large
// ones shares the port, so there each delays each other one. All are taken to begin together: messages that
// the member begins after a wait delay none that are still under way here.
#pragma once

#include "plexus/eco/plan.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace plexus::eco {

class Port {
  public:
    explicit Port(Rank members)
      : connection_of_(members, kNone) {}

    /// A message that begins with all that were added before. The port needs `content_us` for its bytes, and
    /// `burst_us` for those that a connection sends at once.
    void add(Rank to, double content_us, double burst_us) {
        std::size_t& connection = connection_of_[to];
        double now_us = 0;
        if (connection == kNone) {
            connection = connections_.size();
            connections_.push_back({to, 0, 0});
            now_us = std::min(content_us, burst_us);
            bursts_us_ += now_us;
        }
        Connection& own = connections_[connection];
        own.rest_us += content_us - now_us;
        own.last = messages_.size();
        messages_.push_back({connection, own.rest_us, bursts_us_});
    }

    /// When each message has left, in the order of add(), from the common beginning on. What connections send
    /// at once leaves in this order; then all that have more to send share the port evenly. Messages to one
    /// receiver follow each other. Afterwards the port is empty. Valid until the next call.
    const std::vector<double>& left_us() {
        std::vector<std::size_t> order(messages_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
            return messages_[one].rest_us < messages_[other].rest_us;
        });
        left_us_.resize(messages_.size());
        double shared_us = 0;
        double each_us = 0; // what every connection that is not done has sent since the bursts
        std::size_t sending = connections_.size();
        for (const std::size_t number : order) {
            const Message& message = messages_[number];
            shared_us += (message.rest_us - each_us) * static_cast<double>(sending);
            each_us = message.rest_us;
            left_us_[number] = message.rest_us > 0 ? bursts_us_ + shared_us : message.bursts_us;
            if (connections_[message.connection].last == number) --sending;
        }
        for (const Connection& each : connections_) connection_of_[each.to] = kNone;
        connections_.clear();
        messages_.clear();
        bursts_us_ = 0;
        return left_us_;
    }

  private:
    static constexpr std::size_t kNone = SIZE_MAX;
    struct Connection {
        Rank to;
        double rest_us;   ///< without what it sends at once
        std::size_t last; ///< of its messages
    };
    struct Message {
        std::size_t connection;
        double rest_us;   ///< of its connection, up to its end
        double bursts_us; ///< of all connections that had one up to this message
    };

    std::vector<std::size_t> connection_of_; ///< by receiver
    std::vector<Connection> connections_;
    std::vector<Message> messages_;
    std::vector<double> left_us_;
    double bursts_us_ = 0;
};

} // namespace plexus::eco
