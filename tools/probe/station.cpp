// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/station.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace plexus::tools::probe {
namespace {

using benchmark::Clock;
using benchmark::seconds_since;

constexpr std::chrono::seconds kMeetingLimit{10};
constexpr double kRepetitionSeconds = 0.002;
constexpr double kMostTrips = 100;
constexpr std::uint32_t kFewestRepetitions = 3;
constexpr std::uint32_t kMostRepetitions = 20;

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
        throw Error(Status::not_found, "this host has no name: give it one with hostname(1)");
    return name;
}

} // namespace

Station::Station(Context& here)
  : end_(here)
  , player_(here, std::uint64_t{here.rank()} << 32) // no other station's games have these numbers
  , echo_(end_.add_echo())
  , bound_(here.bind(*this)) {
    install();
    end_.watch_errors();
    here.publish(station_name(here.rank()), bound_.pointer());
}

void Station::install() {
    Context& here = end_.here();
    here.on(identify, [](Station& station) {
        Identity who{host_name(), {}};
        for (const Descriptor& row : station.end_.here().table()) who.methods.push_back(row.method);
        return who;
    });
    here.on(meet, [](Station& station, GlobalPointer<benchmark::Player> player) {
        station.end_.answer(std::move(player));
        return station.echo_;
    });
    here.on(abandon, [](Station& station) {
        station.abandons_.fetch_add(1, std::memory_order_relaxed);
        station.end_.fail("it took too long");
    });
    here.on(finish, [](Station& station) { station.finished_.store(true, std::memory_order_relaxed); });
    here.on(measure, threaded,
            [](Station& station, const GlobalPointer<Station>& partner, Sizes sizes, const Effort& effort) {
                return station.have_measured(partner, std::move(sizes), effort);
            });
}

/// On a pool thread, which may wait: connecting to a partner that does not answer takes long, and the main
/// thread serves others meanwhile. Then the main thread measures, because it is the thread that polls.
Readings Station::have_measured(const GlobalPointer<Station>& partner, Sizes sizes, const Effort& effort) {
    const std::uint32_t abandons = abandons_.load(std::memory_order_relaxed);
    auto met = partner.call(meet, player_.pointer());
    if (!met.wait_for(kMeetingLimit)) throw Error(Status::timed_out, "it does not answer");
    Order order{met.get(), std::move(sizes), effort};
    const std::lock_guard in_turn(turn_); // an abandoned order may still be ending
    if (abandons != abandons_.load(std::memory_order_relaxed))
        throw Error(Status::timed_out, "it took too long");
    std::unique_lock hold(mutex_);
    order_ = std::move(order);
    readings_.reset();
    refused_ = Status::ok;
    has_order_.store(true, std::memory_order_relaxed); // order_ is under mutex_
    end_.here().stop();                                // wakes serve()
    answered_.wait(hold, [&] { return readings_ || refused_ != Status::ok; });
    if (!readings_) throw Error(refused_, refusal_);
    return std::move(*readings_);
}

void Station::serve(const std::atomic<bool>& abandoned) {
    const auto is_over = [&] {
        return finished_.load(std::memory_order_relaxed) || abandoned.load(std::memory_order_relaxed);
    };
    while (!is_over()) {
        end_.serve([&] { return is_over() || has_order_.load(std::memory_order_relaxed); });
        if (!has_order_.exchange(false, std::memory_order_relaxed)) continue;
        Order order;
        {
            const std::lock_guard hold(mutex_);
            order = std::move(*order_);
        }
        end_.forget_failure();
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
    player_.face(order.partner);
    Readings readings;
    for (const std::uint64_t bytes : order.sizes) {
        player_.size(bytes); // handlers answer at any size: two games at once must not wait for a loop
        readings.samples_us.push_back(measure_size(order.effort));
    }
    readings.method = player_.method();
    return readings;
}

std::vector<double> Station::measure_size(const Effort& effort) {
    player_.play(end_, 1); // opens windows, meets page faults
    const double trip = player_.play(end_, 1);
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
    while (goes_on()) samples.push_back(player_.play(end_, trips) / (2.0 * trips) * 1e6);
    return samples;
}

} // namespace plexus::tools::probe
