// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/fabric.h"

#include <algorithm>

namespace plexus::tools::lab {
namespace {

constexpr std::uint32_t kShortestFrame = 60; // Ethernet pads what is shorter
constexpr std::uint32_t kFrameHead = 14;

} // namespace

Fabric::Fabric(const Network& network, const Routes& routes)
  : routes_(routes)
  , overhead_bytes_(network.overhead_bytes)
  , full_frame_bytes_(network.mtu + kFrameHead)
  , pipes_(routes.pipes().size())
  , counts_(routes.pipes().size())
  , part_down_(routes.parts().size(), false)
  , host_down_(routes.hosts(), 0) {
    for (std::size_t i = 0; i < pipes_.size(); ++i) {
        pipes_[i].stations.resize(routes.pipes()[i].stations);
        pipes_[i].bits_per_second = routes.pipes()[i].speed.bits_per_second;
    }
}

Time Fabric::wire_time(std::uint32_t pipe, std::uint32_t bytes) const {
    if (rate(pipe) == 0) return Time(0);
    const std::uint64_t on_wire = std::max(bytes, kShortestFrame) + overhead_bytes_;
    return Time(static_cast<std::int64_t>(on_wire * 8 * 1'000'000'000 / rate(pipe)));
}

void Fabric::schedule(Time at, std::uint32_t what, bool frees_pipe) {
    events_.push({at, events_ever_++, what, frees_pipe});
}

void Fabric::offer(Time now, std::uint32_t from, std::uint32_t to, std::uint32_t bytes, Ticket ticket) {
    const auto route = routes_.route(from, to);
    std::uint32_t frame = static_cast<std::uint32_t>(frames_.size());
    if (free_frames_.empty()) {
        frames_.emplace_back();
    } else {
        frame = free_frames_.back();
        free_frames_.pop_back();
    }
    frames_[frame] = {route.data(), static_cast<std::uint32_t>(route.size()), bytes, from, to, ticket};
    if (route.empty() || host_down_[from] != 0) {
        if (!route.empty()) ++counts_[route.front().pipe].cut;
        finish(now, frame, false);
        return;
    }
    enter(now, frame);
}

bool Fabric::has_room(std::uint32_t host) const {
    const Hop entry = routes_.entry(host);
    const Station& station = pipes_[entry.pipe].stations[entry.station];
    return station.bytes + full_frame_bytes_ <= routes_.pipes()[entry.pipe].speed.queue_bytes;
}

/// The frame reaches the pipe of its present hop.
void Fabric::enter(Time now, std::uint32_t frame) {
    const Frame& one = frames_[frame];
    const Hop hop = *one.hop;
    State& pipe = pipes_[hop.pipe];
    const Speed& speed = routes_.pipes()[hop.pipe].speed;
    if (pipe.down != 0) {
        ++counts_[hop.pipe].cut;
        return finish(now, frame, false);
    }
    if (pipe.bits_per_second == 0) return travel(now, hop.pipe, frame);
    Station& station = pipe.stations[hop.station];
    counts_[hop.pipe].queues.add(station.bytes);
    if (!pipe.busy) return start(now, hop.pipe, frame);
    if (station.bytes + one.bytes > speed.queue_bytes) {
        ++counts_[hop.pipe].overflowed;
        return finish(now, frame, false);
    }
    if (station.waiting.empty()) pipe.turns.push_back(hop.station);
    station.waiting.push_back(frame);
    station.bytes += one.bytes;
}

void Fabric::start(Time now, std::uint32_t pipe, std::uint32_t frame) {
    const Time bits = wire_time(pipe, frames_[frame].bytes);
    pipes_[pipe].busy = true;
    pipes_[pipe].sending = frame;
    counts_[pipe].busy += bits;
    schedule(now + bits, pipe, true);
}

void Fabric::pipe_is_free(Time now, std::uint32_t index) {
    State& pipe = pipes_[index];
    const std::uint32_t sent = pipe.sending;
    pipe.busy = false;
    if (!pipe.turns.empty()) {
        const std::uint32_t turn = pipe.turns.front();
        pipe.turns.pop_front();
        Station& station = pipe.stations[turn];
        const std::uint32_t next = station.waiting.front();
        station.waiting.pop_front();
        station.bytes -= frames_[next].bytes;
        if (!station.waiting.empty()) pipe.turns.push_back(turn);
        start(now, index, next);
    }
    travel(now, index, sent);
}

/// The last bit has left: the frame is on its way for the pipe's delay.
void Fabric::travel(Time sent, std::uint32_t pipe, std::uint32_t frame) {
    ++counts_[pipe].frames;
    counts_[pipe].bytes += frames_[frame].bytes;
    schedule(sent + routes_.pipes()[pipe].speed.delay, frame, false);
}

void Fabric::leave(Time now, std::uint32_t frame) {
    Frame& one = frames_[frame];
    const bool was_cut = pipes_[one.hop->pipe].down != 0;
    const bool is_last = one.hops_left == 1;
    if (was_cut || (is_last && host_down_[one.to] != 0)) {
        ++counts_[one.hop->pipe].cut;
        return finish(now, frame, false);
    }
    if (is_last) return finish(now, frame, true);
    ++one.hop;
    --one.hops_left;
    enter(now, frame);
}

void Fabric::finish(Time now, std::uint32_t frame, bool arrived) {
    const Frame& one = frames_[frame];
    outcomes_.push_back({one.ticket, one.to, now, arrived});
    free_frames_.push_back(frame);
}

void Fabric::advance(Time now, std::vector<Outcome>& outcomes) {
    while (!events_.empty() && events_.top().at <= now) {
        const Event event = events_.top();
        events_.pop();
        if (event.frees_pipe) {
            pipe_is_free(event.at, event.what);
        } else {
            leave(event.at, event.what);
        }
    }
    outcomes.insert(outcomes.end(), outcomes_.begin(), outcomes_.end());
    outcomes_.clear();
}

/// Null: there is none.
const Part* Fabric::find_part(const std::string& name) const {
    const auto& parts = routes_.parts();
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
    return found == parts.end() ? nullptr : &*found;
}

Fabric::RateChange Fabric::set_rate(const std::string& name, std::uint64_t bits_per_second) {
    const Part* const found = find_part(name);
    if (found == nullptr) return RateChange::no_such_part;
    RateChange out = RateChange::no_limit;
    for (const std::uint32_t pipe : found->pipes) {
        if (rate(pipe) == 0) continue;
        pipes_[pipe].bits_per_second = bits_per_second;
        out = RateChange::changed;
    }
    return out;
}

bool Fabric::set_up(const std::string& name, bool up) {
    const Part* const found = find_part(name);
    if (found == nullptr) return false;
    const auto index = static_cast<std::size_t>(found - routes_.parts().data());
    if (part_down_[index] == !up) return true;
    part_down_[index] = !up;
    for (const std::uint32_t pipe : found->pipes) pipes_[pipe].down += up ? -1U : 1U;
    for (const std::uint32_t host : found->hosts) host_down_[host] += up ? -1U : 1U;
    return true;
}

void Fabric::reset_counts() { std::fill(counts_.begin(), counts_.end(), PipeCount{}); }

} // namespace plexus::tools::lab
