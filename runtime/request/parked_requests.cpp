// SPDX-License-Identifier: BSD-3-Clause
#include "request/parked_requests.h"

#include "base/log.h"
#include "transport/peer.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace plexus::request {
namespace {

using std::chrono::nanoseconds;

/// No event says that answers have left: it is looked for after so long, then after twice as long, and so on.
constexpr nanoseconds kFirstPause = std::chrono::microseconds(50);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(4);
/// Of one peer in one turn.
constexpr int kAtOnce = 64;

/// A request counts until it has begun, also if that throws.
struct Leaving {
    std::atomic<std::size_t>& count;
    ~Leaving() { count.fetch_sub(1, std::memory_order_release); }
};

} // namespace

bool ParkedRequests::add(Line& line, transport::Channel& from, const wire::RequestHeader& header,
                         wire::View frame, Buffer* owned) {
    Request request{from.peer().shared_from_this(), &from, header, nullptr, frame, {}};
    if (!line.requests.empty() && line.bytes + request.cost() > most_bytes_) return false;
    if (owned != nullptr && *owned != nullptr) {
        request.memory = std::move(*owned);
    } else {
        request.memory = make_buffer(frame.size());
        if (request.memory == nullptr) throw std::bad_alloc();
        std::memcpy(request.memory.get(), frame.data(), frame.size());
        request.frame = {request.memory.get(), frame.size()};
    }
    if (header.deadline != 0) request.expires = Clock::now() + std::chrono::milliseconds(header.deadline);
    if (line.requests.empty()) {
        places_.push_back({request.peer, &line});
        pause_ = nanoseconds{0};
    }
    const std::size_t cost = request.cost();
    line.requests.push_back(std::move(request));
    line.bytes += cost;
    count_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void ParkedRequests::take_first(Line& line, const std::function<void(Request&)>& take) {
    Request request = std::move(line.requests.front());
    line.requests.pop_front();
    line.bytes -= request.cost();
    const Leaving counted{count_};
    take(request);
}

void ParkedRequests::leave_empty_lines() {
    std::erase_if(places_, [](const Place& place) { return place.line->requests.empty(); });
}

std::size_t ParkedRequests::give_up(const std::function<void(Request&)>& refuse, std::size_t most) {
    std::size_t taken = 0;
    for (const Place& place : places_)
        for (; taken < most && !place.line->requests.empty(); ++taken) try {
                take_first(*place.line, refuse);
            } catch (const std::exception& error) { // such as no memory for this report; others may find some
                log::warn("request", "a request that waited for room could not be refused: {}", error.what());
            }
    leave_empty_lines();
    return taken;
}

nanoseconds ParkedRequests::run(const std::function<void(Request&)>& begin) {
    if (places_.empty()) return nanoseconds::max();
    bool some = false;
    bool more = false;
    for (const Place& place : places_) {
        Line& line = *place.line;
        for (int left = kAtOnce; !line.requests.empty(); --left) {
            const Request& first = line.requests.front();
            if ((first.header.flags & wire::kWantsReply) != 0 && crowded(line, *first.from)) {
                first.from->on_outbox([](transport::Outbox& outbox) { // kept answers occupy room until acked
                    if (outbox.frames().window().unacked()) outbox.ask();
                });
                break;
            }
            if (left == 0) {
                more = true;
                break;
            }
            some = true;
            take_first(line, begin);
        }
    }
    leave_empty_lines();
    if (places_.empty()) return nanoseconds::max();
    if (more) return nanoseconds{0};
    pause_ = some ? kFirstPause : std::clamp(2 * pause_, kFirstPause, kLongestPause);
    return pause_;
}

std::size_t ParkedRequests::clear() noexcept {
    for (const Place& place : places_) {
        place.line->requests.clear();
        place.line->bytes = 0;
    }
    places_.clear();
    return count_.exchange(0, std::memory_order_relaxed);
}

} // namespace plexus::request
