// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/station.h"

#include "tools/probe/typical_time.h"

#include "plexus/eco/acquire.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unistd.h>

namespace plexus::tools::probe {
namespace {

using benchmark::Clock;
using benchmark::seconds_since;

constexpr std::chrono::seconds kMeetingLimit{10};
constexpr double kRepetitionSeconds = 0.002;
constexpr double kMostTrips = 100;
constexpr std::uint32_t kMostRepetitions = 20;
// Of an experiment with single messages.
constexpr std::size_t kMostTrials = 200;
constexpr std::uint64_t kMostInRow = 4096;
constexpr double kLongRow = 3; // in rows of one message

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
        throw Error(Status::not_found, "this host has no name: give it one with hostname(1)");
    return name;
}

std::uint64_t first_stamp(const Context& here) { return std::uint64_t{here.rank()} << 32; }

/// Of as many tries as the trial says.
template <class Try>
double time_of(const Trial& trial, Try&& attempt) {
    std::vector<double> times{attempt()};
    const auto start = Clock::now();
    while (times.size() < trial.fewest ||
           (times.size() < kMostTrials && seconds_since(start) < trial.seconds))
        times.push_back(attempt());
    return typical_time(std::move(times), trial.under_load);
}

Deadline patience(double seconds) { return deadline(std::chrono::duration<double>(seconds)); }

} // namespace

Station::Station(Context& here, const std::atomic<bool>& abandoned)
  : abandoned_(abandoned)
  , end_(here)
  , player_(here, first_stamp(here)) // no other station's games have these numbers
  , caller_(end_, first_stamp(here))
  , echo_(end_.add_echo())
  , errands_([&here] { here.stop(); })
  , bound_(here.bind(*this)) {
    install();
    end_.watch_errors();
    here.publish(station_name(here.rank()), bound_.pointer());
}

void Station::install() {
    Context& here = end_.here();
    install_callers(here);
    here.on(identify, [](Station& station) {
        Identity who{host_name(), {}};
        for (const Descriptor& row : station.end_.here().table()) who.methods.push_back(row.method);
        return who;
    });
    here.on(meet, [](Station& station, GlobalPointer<benchmark::Player> player) {
        station.end_.answer(std::move(player));
        return station.echo_;
    });
    here.on(call_on, [](Station& station, std::uint32_t rank, GlobalPointer<Caller> caller) {
        return station.answerer_of(rank, std::move(caller));
    });
    here.on(abandon, [](Station& station) {
        station.abandons_.fetch_add(1, std::memory_order_relaxed);
        station.errands_.look();
        station.end_.fail("it took too long");
    });
    here.on(finish, [](Station& station) {
        station.finished_.store(true, std::memory_order_relaxed);
        station.end_.fail("the probe has ended");
    });
    here.on(measure, threaded,
            [](Station& station, const GlobalPointer<Station>& partner, const Sizes& sizes,
               const Effort& effort) { return station.have_measured(partner, sizes, effort); });
    here.on(attempt, threaded,
            [](Station& station, const GlobalPointer<Station>& partner, const Trial& trial) {
                return station.have_tried(partner, trial);
            });
    here.on(begin_load, threaded,
            [](Station& station, const GlobalPointer<Station>& partner, std::uint64_t bytes, double limit_s) {
                station.start_load(partner, bytes, limit_s);
            });
    here.on(end_load, threaded, [](Station& station) { return station.finish_load(); });
}

GlobalPointer<Answerer> Station::answerer_of(std::uint32_t rank, GlobalPointer<Caller> caller) {
    std::unique_ptr<Answering>& mine = answering_[rank];
    if (!mine) mine = std::make_unique<Answering>(end_.here(), std::move(caller));
    return mine->pointer();
}

GlobalPointer<Answerer> Station::meet_answerer(const GlobalPointer<Station>& partner) {
    auto met = partner.call(call_on, end_.here().rank(), caller_.pointer());
    if (!met.wait_for(kMeetingLimit)) throw Error(Status::timed_out, "it does not answer");
    return met.get();
}

Readings Station::have_measured(const GlobalPointer<Station>& partner, const Sizes& sizes,
                                const Effort& effort) {
    const std::uint32_t abandons = abandons_.load(std::memory_order_relaxed);
    auto met = partner.call(meet, player_.pointer());
    if (!met.wait_for(kMeetingLimit)) throw Error(Status::timed_out, "it does not answer");
    Readings readings;
    have_done(abandons, [&, echo = met.get()] {
        player_.face(echo);
        for (const std::uint64_t bytes : sizes) {
            player_.size(bytes); // handlers answer at any size: two games at once must not wait for a loop
            readings.samples_us.push_back(measure_size(effort));
        }
        readings.method = player_.method();
    });
    return readings;
}

TrialTime Station::have_tried(const GlobalPointer<Station>& partner, const Trial& trial) {
    const std::uint32_t abandons = abandons_.load(std::memory_order_relaxed);
    const GlobalPointer<Answerer> far = meet_answerer(partner);
    if (trial.quantity > static_cast<std::uint8_t>(eco::Quantity::gap))
        throw Error(Status::bad_argument, "there is no such experiment");
    TrialTime out;
    have_done(abandons, [&] {
        caller_.face(far.with(patience(trial.patience_s)));
        out.time_s = try_out(trial);
        out.messages = caller_.messages();
        out.bytes = caller_.bytes();
    });
    return out;
}

/// On a pool thread, which may wait: connecting to a partner that does not answer takes long, and the main
/// thread serves others meanwhile.
void Station::have_done(std::uint32_t abandons, Errands::Work work) {
    errands_.begin(std::move(work), [&] { return abandons != abandons_.load(std::memory_order_relaxed); });
    errands_.finish();
}

void Station::start_load(const GlobalPointer<Station>& partner, std::uint64_t bytes, double limit_s) {
    const std::uint32_t abandons = abandons_.load(std::memory_order_relaxed);
    const GlobalPointer<Answerer> far = meet_answerer(partner);
    auto begun = std::make_shared<std::promise<void>>();
    auto has_begun = begun->get_future();
    const auto is_void = [this, abandons] { return abandons != abandons_.load(std::memory_order_relaxed); };
    ending_load_.store(false, std::memory_order_relaxed);
    errands_.begin([=, this, begun = std::move(begun)] { make_load(far, bytes, limit_s, is_void, *begun); },
                   is_void);
    try {
        has_begun.get();
    } catch (const std::exception&) {
        errands_.finish(); // throws what the load threw, or why it never began
        throw;
    }
}

void Station::make_load(const GlobalPointer<Answerer>& far, std::uint64_t bytes, double limit_s,
                        const std::function<bool()>& is_void, std::promise<void>& begun) {
    const auto start = Clock::now();
    std::uint64_t window = 1;
    try {
        caller_.face(far.with(patience(limit_s)));
        caller_.row(bytes, 1); // opens windows, meets page faults
        // So many that the way is never empty: then a row lasts as long as its messages, not as its trip.
        const double one = caller_.row(bytes, 1);
        while (window < kMostInRow && caller_.row(bytes, window) < kLongRow * one) window *= 2;
    } catch (...) {
        begun.set_exception(std::current_exception());
        throw;
    }
    begun.set_value();
    while (!ending_load_.load(std::memory_order_relaxed) && !is_over() && !is_void()) {
        caller_.row(bytes, window);
        if (seconds_since(start) > limit_s)
            throw Error(Status::timed_out, fmt::format("nobody ended the load within {:g} s", limit_s));
    }
}

TrialTime Station::finish_load() {
    ending_load_.store(true, std::memory_order_relaxed);
    errands_.finish();
    return {0, caller_.messages(), caller_.bytes()};
}

bool Station::is_over() const noexcept {
    return finished_.load(std::memory_order_relaxed) || abandoned_.load(std::memory_order_relaxed);
}

void Station::serve() {
    while (!is_over()) {
        end_.serve([&] { return is_over() || errands_.has_work(); });
        if (is_over() || !errands_.has_work()) continue;
        end_.forget_failure();
        errands_.do_work();
    }
    errands_.close();
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
        if (samples.size() < effort.fewest) return true;
        return samples.size() < kMostRepetitions && seconds_since(start) < effort.seconds;
    };
    while (goes_on()) samples.push_back(player_.play(end_, trips) / (2.0 * trips) * 1e6);
    return samples;
}

double Station::try_out(const Trial& trial) {
    const std::uint64_t bytes = trial.bytes;
    const double first = caller_.trip(bytes, 0).trip_s; // opens windows, meets page faults
    switch (static_cast<eco::Quantity>(trial.quantity)) {
    case eco::Quantity::ping_pong:
        return time_of(trial, [&] { return caller_.trip(bytes, bytes).trip_s / 2; });
    case eco::Quantity::round_trip:
        return time_of(trial, [&] { return caller_.trip(bytes, 0).trip_s; });
    case eco::Quantity::send:
        return time_of(trial, [&] { return caller_.trip(bytes, 0).send_s; });
    case eco::Quantity::receive: {
        const double absent = 1.5 * std::max(first, caller_.trip(0, bytes).trip_s);
        return time_of(trial, [&] { return caller_.take_in(bytes, absent); });
    }
    case eco::Quantity::gap:
        break;
    }
    return gap(trial);
}

/// A row of so many messages that they take longer than a row of one does, and a row of one.
double Station::gap(const Trial& trial) {
    const double one = time_of(trial, [&] { return caller_.row(trial.bytes, 1); });
    std::uint64_t messages = 16;
    while (messages < kMostInRow &&
           caller_.row(trial.bytes, messages) < std::max(kLongRow * one, kRepetitionSeconds))
        messages *= 2;
    const double row = time_of(trial, [&] { return caller_.row(trial.bytes, messages); });
    return std::max(row - one, 0.0) / static_cast<double>(messages - 1);
}

} // namespace plexus::tools::probe
