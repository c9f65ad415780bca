// SPDX-License-Identifier: BSD-3-Clause
#include "counters/publisher.h"

#include "base/log.h"
#include "counters/futex.h"
#include "counters/question.h"

#include <csignal>
#include <pthread.h>
#include <system_error>

namespace plexus::counters {
namespace {

using namespace std::chrono_literals;

/// Between two tries to wake the thread at the end: another process may have put back the number that the
/// thread sleeps on.
constexpr auto kWakeAgain = 1ms;

} // namespace

Result<std::unique_ptr<Publisher>> Publisher::start(const ContextLabel& label,
                                                    std::span<const TableSpec> tables, Work work) {
    auto area = Area::create(label, tables);
    if (!area) return area.failure();
    try {
        return std::unique_ptr<Publisher>(new Publisher(std::move(*area), std::move(work)));
    } catch (const std::system_error& error) {
        return fail(Status::runtime_lost, "no thread for counters: {}", error.what());
    }
}

// The program's signals are not for this thread.
Publisher::Publisher(Area area, Work work)
  : area_(std::move(area))
  , work_(std::move(work)) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { loop(); });
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Publisher::~Publisher() { stop(); }

void Publisher::stop() {
    if (!thread_.joinable()) return;
    stop_.store(true, std::memory_order_release);
    std::atomic<std::uint32_t>& asked = area_.header().asked;
    while (ended_.load(std::memory_order_acquire) == 0) {
        asked.fetch_add(1, std::memory_order_release);
        wake_sleepers(asked);
        sleep_while(ended_, 0, kWakeAgain);
    }
    thread_.join();
}

Result<std::vector<std::uint64_t>> Publisher::words(Clock::time_point deadline) {
    const auto is_open = [this] { return !stop_.load(std::memory_order_acquire); };
    const auto fresh = wait(area_.header(), ask(area_.header()), deadline, is_open);
    if (!fresh) return fresh.failure();
    if (!*fresh) return Failure{Status::timed_out, "its counters were not read in time"};
    auto words = take(area_.memory(), deadline);
    if (words)
        while (!words->empty() && words->back() == 0) words->pop_back();
    return words;
}

void Publisher::loop() noexcept {
    std::atomic<std::uint32_t>& asked = area_.header().asked;
    std::uint32_t answered = 0;
    while (!stop_.load(std::memory_order_acquire)) {
        const std::uint32_t seen = asked.load(std::memory_order_acquire); // pairs with [ask]
        if (seen == answered) {
            sleep_while(asked, seen);
            continue;
        }
        answer();
        answered = seen;
        area_.header().answered.store(seen, std::memory_order_release); // [answer]
        wake_sleepers(area_.header().answered);
    }
    ended_.store(1, std::memory_order_release);
    wake_sleepers(ended_);
}

void Publisher::answer() noexcept {
    Sample sample(area_);
    const auto warn = [](const char* why) noexcept {
        try {
            log::warn("counters", "a sample for a reader is not whole: {}", why);
        } catch (...) {} // no memory for the line
    };
    try {
        work_(sample);
    } catch (const std::exception& error) { warn(error.what()); } catch (...) {
        warn("what was thrown is no std::exception");
    }
}

} // namespace plexus::counters
