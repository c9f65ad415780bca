// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/station.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace plexus::tools::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMeetingLimit{10};
constexpr double kRepetitionSeconds = 0.002;
constexpr double kMostTrips = 100;
constexpr std::uint32_t kFewestRepetitions = 3;
constexpr std::uint32_t kMostRepetitions = 20;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
        throw Error(Status::not_found, "this host has no name: give it one with hostname(1)");
    return name;
}

} // namespace

Station::Station(Context& here)
  : here_(here)
  , game_(std::uint64_t{here.rank()} << 32)
  , bound_(here.bind(*this)) {
    install();
    here_.on_error([this](const Error& error) { fail(error.what()); });
    here_.publish(station_name(here_.rank()), bound_.pointer());
}

Station::~Station() {
    here_.on_error([](const Error&) {});
}

void Station::install() {
    here_.on(identify, [](Station& station) {
        Identity who{host_name(), {}};
        for (const Descriptor& row : station.here_.table()) who.methods.push_back(row.method);
        return who;
    });
    here_.on(meet, [](Station& station, GlobalPointer<Station> back) { station.back_ = std::move(back); });
    here_.on(ping, [](Station& station, std::uint64_t game, Bytes bytes) {
        station.back_.send(pong, game, bytes);
    });
    here_.on(pong, [](Station& station, std::uint64_t game, Bytes) { station.returned(game); });
    here_.on(abandon, [](Station& station) {
        station.abandons_.fetch_add(1, std::memory_order_relaxed);
        station.fail("it took too long");
    });
    here_.on(finish, [](Station& station) { station.finished_.store(true, std::memory_order_relaxed); });
    here_.on(measure, threaded,
             [](Station& station, GlobalPointer<Station> partner, Sizes sizes, Effort effort) {
                 return station.have_measured({std::move(partner), std::move(sizes), effort});
             });
}

/// On a pool thread, which may wait: to open a way to a partner that does not answer takes long,
/// and meanwhile the main thread is there for others. It then measures, as it is the one that
/// polls.
Readings Station::have_measured(Order order) {
    const std::uint32_t abandons = abandons_.load(std::memory_order_relaxed);
    auto met = order.partner.call(meet, bound_.pointer());
    if (!met.wait_for(kMeetingLimit)) throw Error(Status::timed_out, "it does not answer");
    met.get();
    const std::lock_guard in_turn(turn_); // an order that was abandoned may still be on its way out
    if (abandons != abandons_.load(std::memory_order_relaxed))
        throw Error(Status::timed_out, "it took too long");
    std::unique_lock hold(mutex_);
    order_ = std::move(order);
    readings_.reset();
    refused_ = Status::ok;
    has_order_.store(true, std::memory_order_relaxed); // order_ is under mutex_
    here_.stop();                                      // wakes serve()
    answered_.wait(hold, [&] { return readings_ || refused_ != Status::ok; });
    if (!readings_) throw Error(refused_, refusal_);
    return std::move(*readings_);
}

void Station::serve(const std::atomic<bool>& abandoned) {
    const auto is_over = [&] {
        return finished_.load(std::memory_order_relaxed) || abandoned.load(std::memory_order_relaxed);
    };
    while (!is_over()) {
        here_.run_until([&] { return is_over() || has_order_.load(std::memory_order_relaxed); });
        if (!has_order_.exchange(false, std::memory_order_relaxed)) continue;
        Order order;
        {
            const std::lock_guard hold(mutex_);
            order = std::move(*order_);
            failure_.clear();
        }
        std::optional<Readings> readings;
        Status refused = Status::ok;
        std::string refusal;
        try {
            readings = fulfil(order);
        } catch (const Error& error) {
            refused = error.status();
            refusal = error.what();
        } catch (const std::exception& error) { // no memory for messages of that size
            refused = Status::too_large;
            refusal = error.what();
        }
        const std::lock_guard hold(mutex_);
        readings_ = std::move(readings);
        refused_ = refused;
        refusal_ = std::move(refusal);
        answered_.notify_one();
    }
}

Readings Station::fulfil(const Order& order) {
    failed_.store(false, std::memory_order_relaxed);
    game_.fetch_add(1, std::memory_order_relaxed); // what returns from the last one is nothing to us
    far_ = order.partner;
    Readings readings;
    for (const std::uint64_t bytes : order.sizes) {
        payload_.assign(bytes, std::byte{1});
        readings.samples_us.push_back(measure_size(order.effort));
    }
    readings.method = far_.method();
    return readings;
}

std::vector<double> Station::measure_size(const Effort& effort) {
    play(1); // opens windows, meets page faults
    const double trip = play(1);
    const std::uint32_t trips =
        effort.trips > 0
            ? effort.trips
            : static_cast<std::uint32_t>(std::clamp(std::ceil(kRepetitionSeconds / trip), 1.0, kMostTrips));
    std::vector<double> samples;
    if (trips == 1) samples.push_back(trip / 2 * 1e6);
    const auto start = Clock::now();
    const auto goes_on = [&] {
        if (effort.repetitions > 0) return samples.size() < effort.repetitions;
        if (samples.size() < kFewestRepetitions) return true;
        return samples.size() < kMostRepetitions && seconds_since(start) < effort.seconds;
    };
    while (goes_on()) samples.push_back(play(trips) / (2.0 * trips) * 1e6);
    return samples;
}

/// Also ends, with an error, when something failed or the order was abandoned.
void Station::until(const std::function<bool()>& done) {
    here_.run_until([&] { return done() || failed_.load(std::memory_order_acquire); });
    if (!failed_.load(std::memory_order_acquire)) return;
    const std::lock_guard hold(mutex_);
    throw Error(Status::message_lost, failure_);
}

/// Seconds for so many round trips.
double Station::play(std::uint32_t trips) {
    left_.store(trips, std::memory_order_release);
    const auto start = Clock::now();
    far_.send(ping, game_.load(std::memory_order_relaxed), payload_);
    until([&] { return left_.load(std::memory_order_acquire) == 0; });
    return seconds_since(start);
}

void Station::returned(std::uint64_t game) {
    const std::uint32_t left = left_.load(std::memory_order_relaxed);
    if (left == 0 || game != game_.load(std::memory_order_relaxed)) return;
    if (left > 1) far_.send(ping, game_.load(std::memory_order_relaxed), payload_);
    left_.store(left - 1, std::memory_order_release); // pairs with play()
}

void Station::fail(const std::string& why) {
    const std::lock_guard hold(mutex_);
    if (failure_.empty()) failure_ = why;
    failed_.store(true, std::memory_order_release); // [set] pairs with the loads in play()
}

} // namespace plexus::tools::probe
