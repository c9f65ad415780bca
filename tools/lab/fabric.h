// SPDX-License-Identifier: BSD-3-Clause
// Simulates the network: frames wait for wires, occupy a wire for the time of their bits, and travel on.
// Time is an argument: the caller decides how fast time goes, and every event happens at its due
// time, however late advance() is called. Knows nothing of the frames' contents, nor of the system.
// One thread.
//
// Stations that contend for a wire take turns, frame by frame; there are no collisions.
#pragma once

#include "tools/lab/queue_lengths.h"
#include "tools/lab/routes.h"

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

namespace plexus::tools::lab {

/// The counts of one pipe.
struct PipeCount {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;      ///< of frames, without what a wire adds
    std::uint64_t overflowed = 0; ///< frames for which a queue had no room
    std::uint64_t cut = 0;        ///< frames that were lost because the pipe was switched off
    Time busy{0};
    QueueLengths queues; ///< that frames found in their station, whether there was room or not
};

class Fabric {
  public:
    /// The caller's name for a frame.
    using Ticket = std::uint32_t;
    struct Outcome {
        Ticket ticket;
        std::uint32_t to;
        Time due; ///< when it arrived, or was lost
        bool arrived;
    };

    /// Both must outlive the object.
    Fabric(const Network& network, const Routes& routes);

    /// A host puts a frame on its wire. advance() reports the frame's arrival or loss, also a loss at once.
    /// Time never goes back.
    void offer(Time now, std::uint32_t from, std::uint32_t to, std::uint32_t bytes, Ticket ticket);
    /// True if the queue of the host's own wire takes another full frame.
    bool has_room(std::uint32_t host) const;
    /// Time::max() if nothing is on its way.
    Time next_due() const { return events_.empty() ? Time::max() : events_.top().at; }
    /// Runs all events that are due until `now`, in order.
    void advance(Time now, std::vector<Outcome>& outcomes);

    /// Switches a part off or on; frames under way on the part are lost when they leave it. False: there is
    /// no such part.
    bool set_up(const std::string& part, bool up);
    enum class RateChange : std::uint8_t { changed, no_such_part, no_limit };
    /// Frames that start on a part's pipes from now on travel at this rate; above 0. Pipes without a limit
    /// keep none; no_limit: all of them have none.
    RateChange set_rate(const std::string& part, std::uint64_t bits_per_second);
    /// 0: without limit.
    std::uint64_t rate(std::uint32_t pipe) const { return pipes_[pipe].bits_per_second; }
    bool is_up(std::uint32_t pipe) const { return pipes_[pipe].down == 0; }

    const std::vector<PipeCount>& counts() const noexcept { return counts_; }
    void reset_counts();
    /// How long `bytes` occupy the pipe.
    Time wire_time(std::uint32_t pipe, std::uint32_t bytes) const;

  private:
    struct Frame {
        const Hop* hop;
        std::uint32_t hops_left;
        std::uint32_t bytes;
        std::uint32_t from, to;
        Ticket ticket;
    };
    struct Station {
        std::deque<std::uint32_t> waiting; // frames
        std::uint64_t bytes = 0;
    };
    struct State {
        std::vector<Station> stations;
        std::deque<std::uint32_t> turns; // stations that wait, in their order
        std::uint32_t sending = 0;
        bool busy = false;
        std::uint32_t down = 0; // how many of its parts are switched off
        std::uint64_t bits_per_second = 0;
    };
    struct Event {
        Time at;
        std::uint64_t number; // first come, first served
        std::uint32_t what;   // pipe that is free again, or frame that reaches its next hop
        bool frees_pipe;
        bool operator<(const Event& other) const { // a heap's top is its largest
            return at != other.at ? at > other.at : number > other.number;
        }
    };

    const Part* find_part(const std::string& name) const;
    void enter(Time now, std::uint32_t frame);
    void start(Time now, std::uint32_t pipe, std::uint32_t frame);
    void pipe_is_free(Time now, std::uint32_t pipe);
    void leave(Time now, std::uint32_t frame);
    void travel(Time sent, std::uint32_t pipe, std::uint32_t frame);
    void finish(Time now, std::uint32_t frame, bool arrived);
    void schedule(Time at, std::uint32_t what, bool frees_pipe);

    const Routes& routes_;
    const std::uint32_t overhead_bytes_;
    const std::uint32_t full_frame_bytes_;
    std::vector<State> pipes_;
    std::vector<PipeCount> counts_;
    std::vector<bool> part_down_;
    std::vector<std::uint32_t> host_down_;
    std::vector<Frame> frames_;
    std::vector<std::uint32_t> free_frames_;
    std::priority_queue<Event> events_;
    std::uint64_t events_ever_ = 0;
    std::vector<Outcome> outcomes_;
};

} // namespace plexus::tools::lab
