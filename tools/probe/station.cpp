// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/station.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace plexus::tools::probe {
namespace {

using Clock = std::chrono::steady_clock;

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
  , bound_(here.bind(*this))
  , game_(std::uint64_t{here.rank()} << 32) {
    install();
    here_.on_error([this](const Error& error) { fail(error.what()); });
    here_.publish(station_name(here_.rank()), bound_.pointer());
}

void Station::install() {
    here_.on(identify, [](Station& station) {
        Identity who{host_name(), {}};
        for (const LaneReport& lane : station.here_.lanes()) who.methods.push_back(lane.method);
        return who;
    });
    here_.on(meet, [](Station& station, GlobalPointer<Station> back) { station.back_ = std::move(back); });
    here_.on(ping, [](Station& station, std::uint64_t game, Bytes bytes) {
        station.back_.send(pong, game, bytes);
    });
    here_.on(pong, [](Station& station, std::uint64_t game, Bytes) { station.returned(game); });
    here_.on(abandon, [](Station& station) { station.fail("it took too long"); });
    here_.on(finish, [](Station& station) { station.finished_.store(true, std::memory_order_relaxed); });
    // On a pool thread, as the answer has to wait; the main thread measures, as it is the one
    // that polls.
    here_.on(
        measure, threaded, [](Station& station, GlobalPointer<Station> partner, Sizes sizes, Effort effort) {
            std::unique_lock hold(station.mutex_);
            station.order_ = Order{std::move(partner), std::move(sizes), effort};
            station.readings_.reset();
            station.refused_ = Status::ok;
            station.has_order_.store(true, std::memory_order_relaxed); // order_ is under mutex_
            station.here_.stop();                                      // wakes serve()
            station.answered_.wait(hold, [&] { return station.readings_ || station.refused_ != Status::ok; });
            if (!station.readings_) throw Error(station.refused_, station.refusal_);
            return std::move(*station.readings_);
        });
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
    far_.call(meet, bound_.pointer()).get();
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

/// Seconds for so many round trips.
double Station::play(std::uint32_t trips) {
    left_.store(trips, std::memory_order_release);
    const auto start = Clock::now();
    far_.send(ping, game_.load(std::memory_order_relaxed), payload_);
    here_.run_until([&] {
        return left_.load(std::memory_order_acquire) == 0 || failed_.load(std::memory_order_acquire);
    });
    if (failed_.load(std::memory_order_acquire)) {
        const std::lock_guard hold(mutex_);
        throw Error(Status::message_lost, failure_);
    }
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
